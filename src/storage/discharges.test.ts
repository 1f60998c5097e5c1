import { describe, expect, it } from 'vitest'
import { engines } from '../../test/support/store/databases.ts'
import { openStore } from '../../test/support/store/helpers.ts'
import type { Discharge } from '../domain/forecast/discharge.ts'
import { deleteDischarge, listDischarges, pruneDischarges, saveDischarges } from './discharges.ts'

function discharge(startedAt: number, model = 'UR1'): Discharge {
  return {
    ...{ manufacturer: 'shure', model, batteryType: null, startedAt, name: 'Nora' },
    ...{ steps: [[100, 0] as const], percent: 100, onMs: 0, isOn: true, observedAt: startedAt },
  }
}

describe.each(engines)('discharges (%s)', (engine) => {
  // Conformance: C-13.38.
  it('are replaced, listed since a time, deleted, and limited in number', async () => {
    const db = await openStore(engine)
    const first = { channelId: 7, discharge: discharge(1000), endedAt: null }
    await db.transaction((tx) => saveDischarges(tx, [first], 1000))
    expect(await listDischarges(db.read)).toEqual([first])
    const later = { ...first, discharge: { ...first.discharge, percent: 90 } }
    await db.transaction((tx) => saveDischarges(tx, [later], 2000))
    expect(await listDischarges(db.read, 2000)).toEqual([])
    expect(await listDischarges(db.read, 1999)).toEqual([later])

    const ended = Array.from({ length: 60 }, (_, index) => ({
      ...{ channelId: index, discharge: discharge(5000 + index), endedAt: 9000 + index },
    }))
    const other = { channelId: 99, discharge: discharge(1, 'UR2'), endedAt: 2 }
    await db.transaction(async (tx) => {
      await saveDischarges(tx, [...ended, other], 9999)
      await pruneDischarges(tx, 10_000)
    })
    expect(await listDischarges(db.read)).toEqual([other, later, ...ended.slice(10)])

    await db.transaction((tx) => deleteDischarge(tx, other))
    await db.transaction((tx) => pruneDischarges(tx, 61 * 86_400_000))
    expect(await listDischarges(db.read)).toEqual(ended.slice(10))
  })
})
