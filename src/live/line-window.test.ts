import { describe, expect, it } from 'vitest'
import { LineWindow } from './line-window.ts'

const message = (seq: number, bytes: number, firstSeq = seq) => ({ seq, firstSeq, bytes })

describe('LineWindow', () => {
  it('is full with 2 kB at first, and with 8 kB on a fast line', () => {
    const window = new LineWindow()
    window.record(message(1, 2_000), 0)
    expect(window.isFull(0)).toBe(false)
    window.record(message(2, 100), 0)
    expect(window.isFull(0)).toBe(true)
    for (let seq = 3; seq < 10; seq += 1) {
      window.confirm(seq - 1, 10)
      window.record(message(seq, 4_000), 10)
    }
    expect(window.isFull(10)).toBe(false)
    window.record(message(10, 4_200), 10)
    expect(window.isFull(10)).toBe(true)
    expect(window.room(10)).toBe(Number.POSITIVE_INFINITY)
  })

  it('is full while something is unconfirmed for more than a second, and then carries what the line does in one', () => {
    const window = new LineWindow()
    window.record(message(1, 2_000), 0)
    expect(window.isFull(1_001)).toBe(true)
    expect(window.confirm(1, 4_000)).toBe(true)
    expect(window.confirm(1, 4_000)).toBe(false)
    expect(window.room(4_000)).toBe(500)
    window.record(message(2, 500), 4_000)
    expect([window.isFull(4_000), window.room(4_000)]).toEqual([true, 0])
  })

  it('knows which change was overtaken by a newer one', () => {
    const window = new LineWindow()
    window.record(message(50, 10), 0)
    expect(window.overtakenSeq).toBeNull()
    window.record(message(60, 10, 41), 0)
    expect(window.overtakenSeq).toBe(41)
    window.confirm(50, 1)
    expect(window.overtakenSeq).toBe(41)
    window.confirm(60, 1)
    expect(window.overtakenSeq).toBeNull()
  })
})
