import { expect, it } from 'vitest'
import { refreshedAt } from './use-channel-levels.ts'

it('reads recorded levels at once, again when those until then are recorded, and then regularly', () => {
  expect([0, 3, 4, 33, 34, 64].map((seconds) => refreshedAt(1_000 + seconds, 1_000, 600) - 1_000)).toEqual([
    0, 0, 4, 4, 34, 64,
  ])
  expect(refreshedAt(1_000 + 183, 1_000, 3_600)).toBe(1_004)
  expect(refreshedAt(1_000 + 184, 1_000, 3_600)).toBe(1_184)
})
