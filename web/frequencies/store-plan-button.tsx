import { Save } from 'lucide-react'
import type { GuardLevel } from '../../src/contract/values.ts'
import { useServices } from '../app/context.ts'
import { formatDateTime, plainText } from '../app/format.ts'
import { t } from '../app/i18n.ts'
import { useSearch } from '../app/query.ts'
import { useRequest } from '../app/resource.ts'
import { serviceNow } from '../app/service-time.ts'
import { useShowMessage, useShowUndoable } from '../parts/dialogs/messages.tsx'
import type { ShownCarrier } from './carriers.ts'
import { toTab } from './tabs.tsx'
import type { MeasuredLimits } from './use-frequencies.ts'

interface StorePlanButtonProps {
  readonly carriers: readonly ShownCarrier[]
  readonly settings: { readonly level: GuardLevel; readonly measured: MeasuredLimits | null }
  onStored(): void
}

/** Stores the carriers under the present time, and shows the plan. It can be renamed there. */
export function StorePlanButton({ carriers, settings, onStored }: StorePlanButtonProps) {
  const { api } = useServices()
  const [, change] = useSearch()
  const { send, isSending } = useRequest()
  const showMessage = useShowMessage()
  const showUndoable = useShowUndoable()
  const store = async () => {
    const time = formatDateTime(serviceNow())
    const body = { title: t('frequencies.plans.newTitle', { time }), carriers: carriers.map(toPlanCarrier), settings }
    const response = await send(() => api.write('POST', '/api/frequency-plans/', body, 'object'))
    if (response === null) return
    if (!response.ok) return showMessage({ text: response.problem.detail, tone: 'alarm' })
    const { id, title } = response.body
    showUndoable(t('frequencies.plans.stored', { title: plainText(title) }), [response.undoId])
    onStored()
    change({ ...toTab('plans'), plan: String(id) })
  }
  return (
    <button type="button" className="choice" data-tone="usual" disabled={isSending} onClick={store}>
      <Save className="icon" aria-hidden="true" />
      {t('parts.list.withCount', { action: t('frequencies.plans.store'), count: carriers.length })}
    </button>
  )
}

function toPlanCarrier({ slot, name, profile, band, mhz, zone }: ShownCarrier) {
  return { slot, name, profile, mhz, zone, ...(band !== undefined && { band }) }
}
