/** Describes how the levels of a device arrive, which determines how long they are valid. */

/** Levels of one kind arrive together. */
export const levelKinds = ['rf', 'audio'] as const
export type LevelKind = (typeof levelKinds)[number]

export type LevelDelivery =
  /** At a fixed rate. `isOptional`: not every device of this type sends them. */
  | { readonly kind: 'sampled'; readonly intervalMs: number; readonly isOptional?: boolean }
  /** When they change, and in response to queries every `queryLevelsEveryMs`. */
  | { readonly kind: 'changes' }
  /** In response to queries. The default interval is the polling interval of the source. */
  | { readonly kind: 'polled'; readonly intervalMs?: number }

/** Null for levels that the device never reports. */
export interface DeviceLevels extends Readonly<Record<LevelKind, LevelDelivery | null>> {
  /** True if the device sends the levels of a channel only while it receives a transmitter. */
  readonly needsTransmitter?: boolean
}

/** The default. */
export const polledLevels: DeviceLevels = { rf: { kind: 'polled' }, audio: { kind: 'polled' } }

/** A device that reports only changes is queried this often. */
export const queryLevelsEveryMs = 10_000

const minSampledMs = 5_000
const minPolledMs = 30_000

/** `intervalMs` is the polling interval of the source. */
export function levelLifetimeMs(delivery: LevelDelivery, intervalMs: number): number {
  switch (delivery.kind) {
    case 'sampled':
      return Math.max(3 * delivery.intervalMs, minSampledMs)
    case 'changes':
      return minPolledMs
    case 'polled':
      return Math.max(3 * (delivery.intervalMs ?? intervalMs), minPolledMs)
    default:
      return delivery satisfies never
  }
}

export function isOptional(delivery: LevelDelivery): boolean {
  return delivery.kind === 'sampled' && delivery.isOptional === true
}

/** True if such levels should arrive, even before the first one has. */
export function isExpected(delivery: LevelDelivery | null): boolean {
  return delivery?.kind === 'sampled' && !isOptional(delivery)
}
