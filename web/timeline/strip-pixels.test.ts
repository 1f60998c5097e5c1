/** The pixels of the visible strips: drawing only what has changed gives the same picture as drawing everything. */

import { expect, it } from 'vitest'
import { stateLetters } from '../../src/domain/history/columns.ts'
import type { LevelBlock } from './level-blocks.ts'
import type { StripColours } from './raster.ts'
import { createStripPixels, type Picture, visibleRows } from './strip-pixels.ts'

const colours: StripColours = {
  ...{ page: 1, track: 2, faint: 3, rf: 4, weak: 5, audio: 6, audioOver: 7, battery: 8, batteryLow: 9 },
  ...{ on: 10, muted: 11, off: 12, offline: 13, missing: 14 },
}
const start = 1_800_000_000
const [width, height] = [200, 150]

/** Levels that vary from step to step and from channel to channel. */
function varied(channelId: number, drop: number): LevelBlock {
  const count = 600
  const values = (base: number) => Int16Array.from({ length: count }, (_, step) => base - ((step * 7 + channelId) % 13))
  return {
    ...{ from: start, step: 1, count, until: start + count },
    state: Uint8Array.from({ length: count }, (_, step) => ((step + channelId * 31) % 97) % stateLetters.length),
    ...{ rfMin: values(-70), rfMax: values(-55), audioMax: values(-10), audioLast: values(-20) },
    ...{ quality: values(90), battery: values(60), minutes: values(100) },
    weakMs: Int32Array.from({ length: count }, (_, step) => (step % drop === 0 ? 200 : 0)),
  }
}

function pictureAt(offset: number, blocks: ReadonlyMap<number, LevelBlock>, rows: readonly number[]): Picture {
  return {
    ...{ offset, msPerColumn: 700, now: (start + 10_000) * 1_000, scrollTop: 30, rowHeight: 40, labelHeight: 0 },
    ...{ isDetailed: false, scale: 1, rows, colours },
    find: (id) => ({ block: blocks.get(id) ?? null, until: start + 600 }),
  }
}

const createPixels = () => ({ data: new Uint32Array(width * height), width, height })
const none = new Set<number>()

it('gives the same pixels after any pan, and after new levels, as a complete drawing', () => {
  const rows = [1, 2, 3, 4, 5, 6]
  const blocks = new Map(rows.map((id) => [id, varied(id, 41)]))
  const pixels = createPixels()
  const strips = createStripPixels()
  const first = Math.round((start * 1_000) / 700) + 50
  const expectComplete = (offset: number) => {
    const complete = createPixels()
    createStripPixels().draw(complete, pictureAt(offset, blocks, rows), none)
    expect(pixels.data.every((pixel, index) => pixel === complete.data[index])).toBe(true)
  }
  for (const move of [0, 1, 17, -5, -40, 199, 3, -250, 0]) {
    strips.draw(pixels, pictureAt(first + move, blocks, rows), none)
    expectComplete(first + move)
  }
  blocks.set(3, varied(3, 29))
  strips.draw(pixels, pictureAt(first, blocks, rows), new Set([3]))
  expectComplete(first)
})

it('draws the visible rows only', () => {
  expect(visibleRows({ rows: Array.from({ length: 60 }, (_, id) => id), scrollTop: 95, rowHeight: 40 }, 150)).toEqual({
    ...{ first: 2, last: 7 },
  })
})
