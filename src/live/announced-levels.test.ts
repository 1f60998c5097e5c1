import { describe, expect, it } from 'vitest'
import { announcedCount, noLevel } from '../ingest/level-store.ts'
import { AnnouncedLevels } from './announced-levels.ts'

function levelsOf(rf: number, rfPercent = noLevel): Int16Array {
  const levels = new Int16Array(announcedCount).fill(noLevel)
  levels[0] = rf
  levels[announcedCount - 1] = rfPercent
  return levels
}

describe('announced levels', () => {
  it('differ if none are known, if they changed, or if a client may have received others since', () => {
    const announced = new AnnouncedLevels()
    const update = () => announced.update(1, levelsOf(-60))
    expect([update(), update()]).toEqual([true, false])
    expect(announced.update(1, levelsOf(-61))).toBe(true)
    announced.forget(1)
    expect(announced.update(1, levelsOf(-61))).toBe(true)
    announced.setForOne(1, levelsOf(-61))
    expect(announced.update(1, levelsOf(-61))).toBe(false)
    announced.setForOne(1, levelsOf(-60))
    expect(announced.update(1, levelsOf(-61))).toBe(true)
    announced.put(1, levelsOf(-61))
    expect([announced.update(1, levelsOf(-61)), announced.update(1, levelsOf(-61))]).toEqual([true, false])
    announced.remove(1)
    expect(announced.update(1, levelsOf(-61))).toBe(true)
  })

  it('are kept for any number of channels', () => {
    const announced = new AnnouncedLevels()
    const ids = Array.from({ length: 1000 }, (_, index) => index)
    for (const id of ids) expect(announced.update(id, levelsOf(-id))).toBe(true)
    expect(ids.filter((id) => announced.update(id, levelsOf(-id)))).toEqual([])
  })

  it('detect changes of the levels that are not part of levels messages', () => {
    const announced = new AnnouncedLevels()
    expect(announced.hasOtherUnlisted(1, levelsOf(-60))).toBe(false)
    expect(announced.hasOtherUnlisted(1, levelsOf(-60, 40))).toBe(true)
    announced.put(1, levelsOf(-60, 40))
    expect(announced.hasOtherUnlisted(1, levelsOf(-61, 40))).toBe(false)
    expect(announced.hasOtherUnlisted(1, levelsOf(-61, 41))).toBe(true)
  })
})
