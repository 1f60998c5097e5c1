import type { AudioStreamBody } from '../../../src/contract/audio-streams.ts'

/** `idle`: nothing needs it, so it is not received. `silent`: packets have stopped. */
export type StreamState = 'disabled' | 'idle' | 'error' | 'waiting' | 'silent' | 'receiving'

export const stateTones = {
  disabled: 'calm',
  idle: 'calm',
  error: 'bad',
  waiting: 'waiting',
  silent: 'bad',
  receiving: 'good',
} as const satisfies Record<StreamState, string>

/** Packets follow each other within 4 ms. */
const silentSeconds = 1

export function streamState({ enabled, status }: Pick<AudioStreamBody, 'enabled' | 'status'>): StreamState {
  if (!enabled) return 'disabled'
  if (status.levels === null) return 'idle'
  if (status.error !== null) return 'error'
  if (status.last_packet_age === null) return 'waiting'
  return status.last_packet_age > silentSeconds ? 'silent' : 'receiving'
}
