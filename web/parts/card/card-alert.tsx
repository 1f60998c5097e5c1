import { BellRing, CheckCheck } from 'lucide-react'
import type { ChannelFacts } from '../../app/channel-state.ts'
import { plainText } from '../../app/format.ts'
import { t } from '../../app/i18n.ts'
import { alertLine } from '../alerts/alert-text.ts'
import { isOpen, useChannelAlert } from '../alerts/alerts.ts'
import { useAlertResponses } from '../alerts/use-alert-responses.ts'

interface CardAlertProps {
  readonly facts: ChannelFacts
  readonly mayOperate: boolean
}

export function CardAlert({ facts: { receiverId, channelId }, mayOperate }: CardAlertProps) {
  const { acknowledge, isSending } = useAlertResponses()
  const alert = useChannelAlert(receiverId, channelId)
  if (alert === null) return null
  if (!isOpen(alert)) {
    const text = t('card.acknowledgedBy', { name: alert.acknowledged_by ?? '' })
    return (
      <span className="card-acknowledged" title={text}>
        <CheckCheck className="icon" aria-hidden="true" />
        <span className="visually-hidden">{text}</span>
      </span>
    )
  }
  if (!mayOperate) return null
  if (alert.site !== null) {
    const text = t('alerts.atSite', { site: plainText(alert.site.name) })
    return (
      <span className="card-at-site" title={text}>
        <BellRing className="icon" aria-hidden="true" />
        <span className="visually-hidden">{text}</span>
      </span>
    )
  }
  return (
    <button
      type="button"
      className="card-acknowledge"
      aria-disabled={isSending || undefined}
      onClick={() => void acknowledge([alert])}
    >
      <BellRing className="icon" aria-hidden="true" />
      {t('card.acknowledge')}
      <span className="visually-hidden"> {alertLine(alert)}</span>
    </button>
  )
}
