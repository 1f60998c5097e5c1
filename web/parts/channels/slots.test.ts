import { describe, expect, it } from 'vitest'
import { formatSlots, parseSlots } from './slots.ts'

describe('slots of a group as text', () => {
  it.each([
    [[], ''],
    [[3], '3'],
    [[1, 2], '1, 2'],
    [[1, 2, 3, 4, 7], '1–4, 7'],
    [[4, 3, 2], '4, 3, 2'],
    [[1, 65_001, 65_002, 65_003, 2], '1, 65001–65003, 2'],
  ])('formats %j as %j and parses it', (slots, text) => {
    expect(formatSlots(slots)).toBe(text)
    expect(parseSlots(text)).toEqual({ ok: true, slots })
  })

  it.each([
    ['1-3,5 ,  7', [1, 2, 3, 5, 7]],
    ['1 2 3', [1, 2, 3]],
    ['1 - 3\n5;6', [1, 2, 3, 5, 6]],
    [' , ', []],
  ])('also parses %j', (text, slots) => {
    expect(parseSlots(text)).toEqual({ ok: true, slots })
  })

  it.each([
    ['1, two', '“two”'],
    ['0', '“0”'],
    ['5-2', '“5-2”'],
    ['65536', '“65536”'],
    ['1-4, 3', 'Slot 3 is listed twice.'],
  ])('rejects %j', (text, says) => {
    const read = parseSlots(text)
    expect(read.ok ? '' : read.expected).toContain(says)
  })
})
