import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Channel } from '../../equipment/receiver.ts'
import { type KnownEquipment, planImport } from './plan-import.ts'
import { readCoordinationFile } from './read-coordination.ts'

function read(name: string) {
  const url = new URL(`../../../../test/coordination-fixtures/${name}`, import.meta.url)
  const file = readCoordinationFile(readFileSync(url, 'utf8'))
  if (!('coordination' in file)) throw new Error('Expected a coordination.')
  return file.coordination
}

const channel = (number: number, slot: number, name = '') => ({ channel: number, slot, name }) as Channel
const rackA = {
  id: 7,
  name: 'Rack A',
  ip: '10.32.14.11',
  serial_number: null,
  channels: [channel(1, 3, 'Nora'), channel(2, 4, 'Nora 2')],
}
const nothing: KnownEquipment = { receivers: [], placeholders: [], freeSlots: [11, 12, 13] }

// Conformance: C-23.111.
describe('a show', () => {
  it('has a placeholder for each channel of a device that is not known', () => {
    const planned = planImport(read('show.shw'), nothing)
    expect(planned.placeholders).toEqual([
      { id: null, slot: 11, name: 'Nora Ø', kind: 'wireless', frequency: '470.125' },
      { id: null, slot: 12, name: 'Paul', kind: 'wireless', frequency: '470.700' },
      { id: null, slot: 13, name: 'Paul 2', kind: 'iem', frequency: '518.300' },
    ])
    expect(
      planned.carriers.map(({ slot, profile, band, locked, zone, groups }) => [
        slot,
        profile,
        band,
        locked,
        zone,
        groups,
      ]),
    ).toEqual([
      [11, 'ad', 'G55', false, null, ['Vocals']],
      [12, 'ad', 'G55', true, null, []],
      [13, 'psm1000', 'H22', false, 'Stage B', []],
    ])
    expect(planned.spares).toEqual([
      { profile: 'ad', mhz: '471.350' },
      { profile: 'psm1000', mhz: '519.500' },
    ])
  })

  it('has the slots of a receiver with the address, or with the name', () => {
    for (const [receiver, by] of [
      [{ ...rackA, name: 'Other' }, 'address'],
      [{ ...rackA, ip: null, name: 'RACK A' }, 'name'],
    ] as const) {
      const planned = planImport(read('show.shw'), { ...nothing, receivers: [receiver] })
      expect(planned.matches).toEqual([{ device: 'Rack A', receiver_id: 7, receiver: receiver.name, by }])
      expect(planned.carriers.map(({ slot }) => slot)).toEqual([3, 4, 11])
      expect(planned.placeholders).toHaveLength(1)
    }
  })

  it('matches no receiver if several have the name', () => {
    const receivers = [
      { ...rackA, ip: null },
      { ...rackA, id: 8, ip: null },
    ]
    expect(planImport(read('show.shw'), { ...nothing, receivers }).matches).toEqual([])
  })

  it('uses the placeholder that has the name of a channel', () => {
    const placeholders = [{ id: 5, slot: 9, name: 'paul', frequency: null, kind: 'wireless' as const }]
    const planned = planImport(read('show.shw'), { ...nothing, placeholders })
    expect(planned.placeholders[1]).toEqual({ id: 5, slot: 9, name: 'Paul', kind: 'wireless', frequency: '470.700' })
  })

  it('is refused if there are not enough free slots', () => {
    expect(() => planImport(read('show.shw'), { ...nothing, freeSlots: [65_535] })).toThrow('not enough free slots')
  })
})

it('finds the channels of a report by their names', () => {
  const planned = planImport(read('report-6.csv'), { ...nothing, receivers: [rackA] })
  expect(planned.matches).toMatchObject([{ device: 'Rack A', receiver_id: 7, by: 'name' }])
  expect(planned.carriers.map(({ slot }) => slot)).toEqual([3, 4])
  expect(planned.placeholders).toEqual([])
})

it('determines profiles from the types of WSM', () => {
  const { carriers } = planImport(read('project.wsm'), nothing)
  expect(carriers.map(({ profile }) => profile)).toEqual(['ewdx_ld', 'ew_iem', 'ew_iem'])
})
