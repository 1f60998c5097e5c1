/** Makes the lights of a receiver flash, so that it is found in its rack. Absent if that is not permitted or possible. */

import { Lightbulb } from 'lucide-react'
import { useServices, useWatchState } from '../app/context.ts'
import { t } from '../app/i18n.ts'
import { useRequest } from '../app/resource.ts'
import { useMay } from '../app/session.ts'
import { useShowMessage } from '../parts/messages.tsx'

interface IdentifyButtonProps {
  readonly receiverId: number
  readonly name: string
  /** Whether its lights can be made to flash. */
  readonly canIdentify: boolean
}

export function IdentifyButton({ receiverId, name, canIdentify }: IdentifyButtonProps) {
  const { api } = useServices()
  const { send, isSending } = useRequest()
  const showMessage = useShowMessage()
  const mayOperate = useMay('operate')
  const isOn = useWatchState(({ config }) => config.IDENTIFY)
  if (!mayOperate || !isOn || !canIdentify) return null
  const identify = async () => {
    const response = await send(() => api.write('POST', `/api/receivers/${receiverId}/identify/`, {}, 'object'))
    if (response === null) return
    if (!response.ok) return showMessage({ text: response.problem.detail, tone: 'alarm' })
    showMessage({ text: t('receiver.identifying', { name, count: response.body.seconds }) })
  }
  return (
    <button type="button" className="choice" disabled={isSending} onClick={() => void identify()}>
      <Lightbulb className="icon" aria-hidden="true" />
      {t('receiver.identify')}
    </button>
  )
}
