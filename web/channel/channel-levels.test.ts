import { expect, it } from 'vitest'
import type { HistoryLevelsBody } from '../../src/contract/history.ts'
import {
  type LiveSecond,
  recordedLevels,
  stateRuns,
  summarizeLevels,
  unknownLevels,
  withLive,
} from './channel-levels.ts'

const from = Date.parse('2026-05-01T20:00:00Z') / 1_000

function body(state: string, rf: readonly (number | null)[], step = 10): HistoryLevelsBody {
  return {
    ...{ from: '2026-05-01T20:00:00Z', to: '2026-05-01T21:00:00Z', step_seconds: step },
    channels: [
      {
        ...{ id: 7, state, rf: { min: [...rf], max: rf.map((level) => level && level + 5) } },
        audio: { max: rf.map(() => -12), last: rf.map(() => -20) },
        battery: { last: rf.map(() => 80) },
        weak_ms: rf.map(() => 0),
      },
    ],
  }
}

const second = (at: number, values: Partial<LiveSecond> = {}): LiveSecond => ({
  ...{ at, letter: '1', rfMin: -60, rfMax: -50, audio: -9, battery: 79 },
  ...values,
})

// Conformance: C-12.90.
it('continues the recorded steps with what is received live', () => {
  const levels = recordedLevels(body('11-', [-48, -47, null]), 7)
  const live = [second(from + 21), second(from + 22, { rfMin: -70 }), second(from + 30, { letter: 'm' })]
  expect(withLive(levels, live, { to: from + 45, isLoaded: true })).toEqual({
    ...{ from, stepSeconds: 10, letters: ['1', '1', '1', 'm', '-'] },
    rfMin: [-48, -47, -70, -60, null],
    rfMax: [-43, -42, -50, -50, null],
    audio: [-12, -12, -9, -9, null],
    battery: [80, 80, 79, 79, null],
  })
})

it('keeps the recorded state of a step, and ignores seconds before it', () => {
  const levels = recordedLevels(body('0', [-99]), 7)
  const { letters, rfMin } = withLive(levels, [second(from - 1), second(from + 3)], { to: from + 10, isLoaded: true })
  expect([letters, rfMin]).toEqual([['0'], [-99]])
})

it('draws live values if nothing is recorded', () => {
  const levels = unknownLevels(from, from + 600)
  expect(levels.stepSeconds).toBe(1)
  const { letters, rfMin } = withLive(levels, [second(from + 2)], { to: from + 4, isLoaded: true })
  expect([letters, rfMin]).toEqual([
    ['-', '-', '1', '-'],
    [null, null, -60, null],
  ])
  expect(unknownLevels(from, from + 14 * 86_400).stepSeconds).toBe(600)
})

it('does not call a step unrecorded before it is loaded', () => {
  const levels = withLive(unknownLevels(from, from + 600), [second(from + 1)], { to: from + 3, isLoaded: false })
  expect(levels.letters).toEqual([null, '1', null])
  expect(stateRuns(levels)).toEqual([{ letter: '1', from: from + 1, to: from + 2 }])
})

it('divides the states into runs', () => {
  expect(stateRuns(recordedLevels(body('110--', [1, 1, 1, null, null]), 7))).toEqual([
    { letter: '1', from, to: from + 20 },
    { letter: '0', from: from + 20, to: from + 30 },
    { letter: '-', from: from + 30, to: from + 50 },
  ])
})

it('summarizes the visible steps, newest first, with their states and extremes', () => {
  const levels = recordedLevels(body('111m0', [-40, -50, -60, -70, null]), 7)
  expect(summarizeLevels(levels, from + 10, 2)).toEqual([
    { from: from + 30, letters: ['m', '0'], rfMin: -70, rfMax: -65, audio: -12, battery: 80 },
    { from: from + 10, letters: ['1'], rfMin: -60, rfMax: -45, audio: -12, battery: 80 },
  ])
})

it('shows a channel that the response does not contain as not recorded', () => {
  expect(recordedLevels(body('1', [-40]), 8).letters).toEqual([])
})
