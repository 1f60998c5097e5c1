/** How the levels of a device arrive, which decides for how long they are valid. */

/** The levels that arrive together. */
export const levelKinds = ['rf', 'audio'] as const
export type LevelKind = (typeof levelKinds)[number]

export type LevelDelivery =
  /** At a fixed rate. `isOptional`: not every device of this type sends them. */
  | { readonly kind: 'sampled'; readonly intervalMs: number; readonly isOptional?: boolean }
  /** When they change, and as the answers to queries every `queryLevelsEveryMs`. */
  | { readonly kind: 'changes' }
  /** As the answers to queries. Default interval: that of the polls of the source. */
  | { readonly kind: 'polled'; readonly intervalMs?: number }

/** The levels that a device reports; null for levels that it never reports. */
export interface DeviceLevels extends Readonly<Record<LevelKind, LevelDelivery | null>> {
  /** Whether the device sends the levels of a channel only while it receives a transmitter. */
  readonly needsTransmitter?: boolean
}

/** Levels of which nothing is known in advance. */
export const polledLevels: DeviceLevels = { rf: { kind: 'polled' }, audio: { kind: 'polled' } }

/** How often a device that reports only changes is asked for a level. */
export const queryLevelsEveryMs = 10_000

const minSampledMs = 5_000
const minPolledMs = 30_000

/** Returns for how long a level is valid. `intervalMs` is the interval of the polls of the source. */
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

/** Whether such levels should arrive, even if none has arrived yet. */
export function isExpected(delivery: LevelDelivery | null): boolean {
  return delivery?.kind === 'sampled' && !isOptional(delivery)
}
