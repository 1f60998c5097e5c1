import { expect, it } from 'vitest'
import { idleStatus } from '../../../src/domain/audio/audio-stream.ts'
import { streamState } from './stream-state.ts'

it('names the state of a stream', () => {
  const joined = { ...idleStatus, levels: [-20] }
  const stateOf = (status: object, enabled = true) => streamState({ enabled, status: { ...joined, ...status } })
  expect(stateOf({ last_packet_age: 0.1 })).toBe('receiving')
  expect(stateOf({ last_packet_age: 4 })).toBe('silent')
  expect(stateOf({ last_packet_age: null })).toBe('waiting')
  expect(stateOf({ last_packet_age: 0.1, error: 'The format has changed.' })).toBe('error')
  expect(stateOf({ levels: null, last_packet_age: 4 })).toBe('idle')
  expect(stateOf({ last_packet_age: 0.1 }, false)).toBe('disabled')
})
