/** The state of the timeline: following the present, zooming, moving and the playhead. */

import { expect, it } from 'vitest'
import { createControl } from './control.ts'
import { following } from './range.ts'

const now = 2_000_000_000_000

function create(isFollowing: boolean) {
  const range = isFollowing ? following(600_000, now) : { from: now - 3_600_000, span: 600_000 }
  const state = { range, isFollowing, playhead: null, channelId: null, selected: null }
  let time = now
  return { control: createControl(state, () => time), advance: (ms: number) => (time += ms) }
}

it('moves with the present until the user moves it', () => {
  const { control, advance } = create(true)
  const { from } = control.get().range
  advance(5_000)
  expect(control.get().range.from).toBe(from + 5_000)
  control.pan(-1_000)
  const moved = control.get()
  expect(moved).toMatchObject({ isFollowing: false, range: { from: from + 4_000 } })
  advance(5_000)
  expect(control.get()).toBe(moved)
  control.follow()
  expect(control.get()).toMatchObject({ isFollowing: true, range: { from: from + 10_000 } })
})

it('keeps following when it is zoomed at the present, but not when it is zoomed at an earlier time', () => {
  const { control } = create(true)
  control.zoom(0.5, null)
  control.zoom(0.5, 0.95)
  expect(control.get()).toMatchObject({ isFollowing: true, range: following(150_000, now) })
  const { from, span } = control.get().range
  control.zoom(2, 0.25)
  const zoomed = control.get()
  expect(zoomed.isFollowing).toBe(false)
  expect(zoomed.range.from + zoomed.range.span * 0.25).toBe(from + span * 0.25)
})

it('moves the range to a time only if it is outside, and notifies listeners', () => {
  const { control } = create(false)
  let calls = 0
  const unsubscribe = control.subscribe(() => calls++)
  const { range } = control.get()
  control.jump(range.from + 1_000, 7)
  expect(control.get()).toMatchObject({ range, playhead: range.from + 1_000, channelId: 7 })
  control.jump(range.from - 60_000)
  expect(control.get()).toMatchObject({ range: { from: range.from - 360_000 }, channelId: 7 })
  unsubscribe()
  control.select({ from: 1, to: 2 })
  expect(calls).toBe(2)
})
