import { alertKinds } from '../../src/contract/alert-kinds.ts'
import type { AlertBody } from '../../src/contract/alerts.ts'
import { isRecord } from '../../src/domain/json.ts'
import type { WatchState } from './watch-state.ts'

export interface AlarmChoice {
  /** `warning` includes `critical`. */
  readonly severity: 'critical' | 'warning'
  /** A kind that is added later sounds until it is listed here. */
  readonly mutedKinds: readonly string[]
  /** Ids of groups; empty for all channels. */
  readonly groups: readonly number[]
}

export const everyAlarm: AlarmChoice = { severity: 'warning', mutedKinds: [], groups: [] }

/** Replaces invalid parts with the defaults. */
export function parseAlarmChoice(text: string | null): AlarmChoice {
  const stored = parseRecord(text)
  const { mutedKinds, groups } = stored
  return {
    severity: stored.severity === 'critical' ? 'critical' : 'warning',
    mutedKinds: Array.isArray(mutedKinds) ? alertKinds.filter((kind) => mutedKinds.includes(kind)) : [],
    groups: Array.isArray(groups) ? groups.filter((id) => Number.isSafeInteger(id)) : [],
  }
}

function parseRecord(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return isRecord(value) ? value : {}
  } catch {
    return {}
  }
}

type AlarmSource = Pick<WatchState, 'alerts' | 'receivers' | 'groups'>

/** Raised alerts that are neither acknowledged, snoozed, silenced nor deselected. */
export function listAlarms({ alerts, receivers, groups }: AlarmSource, choice: AlarmChoice): readonly AlertBody[] {
  // A deleted group restricts nothing, otherwise the alarm would never sound again.
  const chosen = groups.filter(({ id }) => choice.groups.includes(id))
  const slots = chosen.length === 0 ? null : new Set(chosen.flatMap((group) => group.slots))
  return alerts.filter((alert) => {
    if (alert.state !== 'raised' || alert.silenced || choice.mutedKinds.includes(alert.kind)) return false
    if (alert.severity === 'info' || (choice.severity === 'critical' && alert.severity !== 'critical')) return false
    return slots === null || concerns(alert, receivers, slots)
  })
}

/** An alert about a source or the service concerns every group. */
function concerns(alert: AlertBody, receivers: WatchState['receivers'], slots: ReadonlySet<number>): boolean {
  if (alert.receiver_id === null) return true
  const channels = receivers.get(alert.receiver_id)?.channels ?? []
  const own = alert.channel_id === null ? channels : channels.filter(({ id }) => id === alert.channel_id)
  return own.some(({ slot }) => slots.has(slot))
}
