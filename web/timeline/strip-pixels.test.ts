/** The pixels of the visible strips: drawing only what has changed gives the same picture as drawing everything. */

import { expect, it } from 'vitest'
import { stateLetters } from '../../src/domain/history/columns.ts'
import type { LevelBlock } from './level-blocks.ts'
import type { StripColours } from './raster.ts'
import { RowLayout } from './row-layout.ts'
import { createStripPixels, type Picture } from './strip-pixels.ts'

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

function layoutOf(ids: readonly number[], openIds: readonly number[] = []): RowLayout {
  return new RowLayout({ ids, openIds, stripHeight: 40, labelHeight: 0, isDetailed: false })
}

function pictureAt(offset: number, blocks: ReadonlyMap<number, LevelBlock>, layout: RowLayout): Picture {
  return {
    ...{ offset, msPerColumn: 700, now: (start + 10_000) * 1_000, scrollTop: 30, scale: 1, layout, colours },
    find: (id) => ({ block: blocks.get(id) ?? null, until: start + 600 }),
  }
}

const createPixels = () => ({ data: new Uint32Array(width * height), width, height })
const none = new Set<number>()

it('gives the same pixels after any pan, and after new levels, as a complete drawing', () => {
  const ids = [1, 2, 3, 4, 5, 6]
  const layout = layoutOf(ids, [2])
  const blocks = new Map(ids.map((id) => [id, varied(id, 41)]))
  const pixels = createPixels()
  const strips = createStripPixels()
  const first = Math.round((start * 1_000) / 700) + 50
  const expectComplete = (offset: number) => {
    const complete = createPixels()
    createStripPixels().draw(complete, pictureAt(offset, blocks, layout), none)
    expect(pixels.data.every((pixel, index) => pixel === complete.data[index])).toBe(true)
  }
  for (const move of [0, 1, 17, -5, -40, 199, 3, -250, 0]) {
    strips.draw(pixels, pictureAt(first + move, blocks, layout), none)
    expectComplete(first + move)
  }
  blocks.set(3, varied(3, 29))
  strips.draw(pixels, pictureAt(first, blocks, layout), new Set([3]))
  expectComplete(first)
})

it('draws the visible rows only', () => {
  const ids = Array.from({ length: 60 }, (_, id) => id)
  expect(layoutOf(ids).visible(95, 150)).toEqual({ first: 2, last: 7 })
  expect(layoutOf(ids, [3]).visible(95, 150)).toEqual({ first: 2, last: 4 })
})

it('places every strip below the ones before it, open or closed', () => {
  const layout = layoutOf([4, 5, 6], [5])
  expect([0, 1, 2].map((row) => layout.topOf(row))).toEqual([0, 40, 280])
  expect([layout.height, layout.heightOf(1), layout.isOpen(1), layout.isOpen(2)]).toEqual([320, 240, true, false])
  expect([-1, 0, 39, 40, 279, 280, 320].map((y) => layout.rowAt(y))).toEqual([null, 0, 0, 1, 1, 2, null])
})
