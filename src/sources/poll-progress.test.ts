import { expect, test } from 'vitest'
import { PollProgress } from './poll-progress.ts'

// Conformance: C-26.15.
test('a source moves while its cycles start and end within three intervals plus their timeouts', () => {
  const progress = new PollProgress(5_000)
  progress.started()
  const startedAt = performance.now()
  expect(progress.isMoving(1_000, 2, startedAt + 12_900)).toBe(true)
  expect(progress.isMoving(1_000, 2, startedAt + 13_100)).toBe(false)
  // A source that failed waits longer than its interval.
  progress.waiting(() => startedAt + 60_000)
  expect(progress.isMoving(1_000, 2, startedAt + 62_900)).toBe(true)
  expect(progress.isMoving(1_000, 2, startedAt + 63_100)).toBe(false)
})
