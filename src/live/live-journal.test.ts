import { describe, expect, it } from 'vitest'
import { LevelBatch } from './level-batch.ts'
import { LiveJournal } from './live-journal.ts'

const removed = (id: number) => ({ type: 'receiver_removed', id }) as const

function append(journal: LiveJournal, count: number): void {
  for (let id = 1; id <= count; id += 1) journal.append(removed(id), {})
}

describe('a live journal', () => {
  it('numbers messages from 1 without gaps, and serializes each once', () => {
    const journal = new LiveJournal()
    expect(journal.append(removed(4), {}).frame.toString()).toBe('{"type":"receiver_removed","seq":1,"id":4}')
    const levels = journal.appendLevels(new LevelBatch([1], [-50, -20], { isFull: false }), 'now')
    const frame = journal.levelsFrame(levels, false)
    expect(JSON.parse(String(frame))).toEqual({ type: 'levels', seq: 2, at: 'now', values: [[1, -50, -20]] })
    expect(journal.levelsFrame(levels, false)).toBe(frame)
    expect(journal.since(0)?.map(({ seq }) => seq)).toEqual([1, 2])
  })

  it('returns the messages after a number, and null if the number is unknown', () => {
    const journal = new LiveJournal()
    append(journal, 3)
    expect(journal.since(3)).toEqual([])
    expect(journal.since(1)?.map(({ seq }) => seq)).toEqual([2, 3])
    expect(journal.since(4)).toBeNull()
    journal.clear()
    expect(journal.since(3)).toEqual([])
    expect(journal.since(2)).toBeNull()
  })

  it('keeps messages for a time or up to a number, whichever is longer', () => {
    let now = 0
    const journal = new LiveJournal({ ageMs: 60_000, count: 10 }, () => now)
    append(journal, 20)
    expect(journal.since(0)).toHaveLength(20)
    now = 60_001
    append(journal, 1)
    expect(journal.since(10)).toBeNull()
    expect(journal.since(11)).toHaveLength(10)
  })

  it('drops the oldest messages beyond a size', () => {
    const journal = new LiveJournal({ bytes: 100_000 })
    append(journal, 5000)
    expect(journal.bytes).toBeLessThanOrEqual(100_000)
    expect(journal.since(0)).toBeNull()
    expect(
      journal
        .since(4900)
        ?.map(({ seq }) => seq)
        .at(0),
    ).toBe(4901)
  })
})
