import { alertKinds, kindsOfVersion1 } from '../../src/contract/alert-kinds.ts'
import type { AlertBody } from '../../src/contract/alerts.ts'
import { isRecord } from '../../src/domain/json.ts'
import type { WatchState } from './watch-state.ts'

export interface AlarmChoice {
  /** `warning` includes `critical`. */
  readonly severity: 'critical' | 'warning'
  readonly mutedKinds: readonly string[]
  /** Ids of groups; empty for all channels. */
  readonly groups: readonly number[]
}

export const everyAlarm: AlarmChoice = { severity: 'warning', mutedKinds: [], groups: [] }

/** Stores the kinds that exist, so that a later version adds no sounds. */
export function formatAlarmChoice(choice: AlarmChoice): string {
  return JSON.stringify({ ...choice, knownKinds: alertKinds })
}

/** Replaces invalid parts with the defaults. A choice that was stored earlier mutes the kinds that it did not know. */
export function parseAlarmChoice(text: string | null): AlarmChoice {
  if (text === null) return everyAlarm
  const { knownKinds, mutedKinds: muted, groups, ...stored } = parseRecord(text)
  const known: readonly unknown[] = Array.isArray(knownKinds) ? knownKinds : kindsOfVersion1
  const mutedKinds = [...(Array.isArray(muted) ? muted : []), ...alertKinds.filter((kind) => !known.includes(kind))]
  return {
    severity: stored.severity === 'critical' ? 'critical' : 'warning',
    mutedKinds: alertKinds.filter((kind) => mutedKinds.includes(kind)),
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
