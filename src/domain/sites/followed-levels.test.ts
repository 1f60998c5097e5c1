import { expect, it } from 'vitest'
import { createSteps } from '../history/steps.ts'
import { findLacking, parseFollowedLevels, planRequests, replaceSteps } from './followed-levels.ts'

it('asks for the whole range if nothing is kept', () => {
  expect(findLacking({ from: 605, to: 1203 }, 10, new Map())).toEqual({ from: 0, to: 1210 })
})

it('continues a block where it ends, and asks for nothing that is complete', () => {
  const range = { from: 0, to: 400 }
  expect(findLacking(range, 1, new Map([[0, 240]]))).toEqual({ from: 240, to: 400 })
  const kept = [
    [0, 240],
    [240, 300],
  ] as const
  expect(findLacking(range, 1, new Map(kept))).toEqual({ from: 300, to: 400 })
  expect(findLacking({ from: 250, to: 300 }, 1, new Map(kept))).toBeNull()
})

it('combines channels that miss the same range, and limits the size of requests', () => {
  const range = { from: 0, to: 2400 }
  const lacking = new Map([
    [7, range],
    [8, { from: 240, to: 480 }],
    [9, range],
  ])
  expect(planRequests(lacking, 1)).toEqual([
    { ...range, step: 1, channelIds: [7] },
    { ...range, step: 1, channelIds: [9] },
    { from: 240, to: 480, step: 1, channelIds: [8] },
  ])
  const long = planRequests(new Map([[7, { from: 0, to: 10_000 }]]), 1)
  expect(long.map(({ from, to }) => [from, to])).toEqual([
    [0, 3840],
    [3840, 7680],
    [7680, 10_000],
  ])
})

const range = { from: 0, to: 30 }

it('reads a response, and replaces the steps that it contains', () => {
  const channels = [{ id: 3, state: '1-', rf: { min: [-60, null], max: [-50, null] }, weak_ms: [12, null] }]
  const body = { from: '1970-01-01T00:00:10.000Z', to: '1970-01-01T00:00:30.000Z', step_seconds: 10, channels }
  const received = parseFollowedLevels(body, new Map([[3, 7]]), range)
  expect(received).toMatchObject({ step: 10, isInterrupted: false, steps: { from: 10, count: 2, channelIds: [7] } })
  const steps = createSteps(0, 3, [7])
  steps.columns.rf_min.set([-1, -1, -1])
  if (received !== null) replaceSteps(steps, received.steps, 7, 10)
  expect([...steps.columns.state]).toEqual([0, 4, 0])
  expect([...steps.columns.rf_min]).toEqual([-1, -60, -32_768])
  expect([...steps.columns.weak_ms]).toEqual([-32_768, 12, -32_768])
})

it('notices that a site further along a chain could not be asked', () => {
  const body = { from: '1970-01-01T00:00:00Z', step_seconds: 1, channels: [{ id: 3, state: '-' }] }
  const interrupted_sites = [{ code: 'theatre', name: 'Royal Theatre' }]
  expect(parseFollowedLevels({ ...body, interrupted_sites }, new Map([[3, 7]]), range)?.isInterrupted).toBe(true)
})

it('rejects what is no response of this kind', () => {
  for (const body of [null, [], {}, { channels: [] }, { from: 'x', step_seconds: 1, channels: [{ state: '-' }] }]) {
    expect(parseFollowedLevels(body, new Map(), range)).toBeNull()
  }
  // Longer than requested.
  const body = { from: '1970-01-01T00:00:00Z', step_seconds: 1, channels: [{ id: 3, state: '-'.repeat(1000) }] }
  expect(parseFollowedLevels(body, new Map([[3, 7]]), range)).toBeNull()
})
