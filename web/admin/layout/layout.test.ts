import { describe, expect, it } from 'vitest'
import type { LayoutLocation, LayoutReceiver } from '../../../src/contract/locations.ts'
import { buildSlotRecord } from '../../../test/support/builders.ts'
import { filterLayout, locationOptions, receiversOf } from './layout.ts'

const receiver = (id: number, name: string, more: Partial<LayoutReceiver> = {}): LayoutReceiver => ({
  id,
  name,
  manufacturer: 'shure',
  device_type: 'ulxd',
  model: null,
  ip: `10.0.0.${id}`,
  is_active: true,
  channels: [{ id: id * 10, channel: 1, slot: id, name: `Vox ${id}` }],
  units: [],
  ...more,
})

const locationId = (
  id: number,
  name: string,
  receivers: LayoutReceiver[],
  locations: LayoutLocation[] = [],
): LayoutLocation => ({
  id,
  name,
  version: 1,
  description: '',
  zone: null,
  country: null,
  latitude: null,
  longitude: null,
  receivers,
  locations,
})

const slotRecords = new Map([[2, buildSlotRecord(2, { title: 'Nora' })]])
const rack = locationId(2, 'Rack 1', [receiver(3, 'Left', { is_active: false })])
const layout = {
  locations: [locationId(1, 'Hall', [receiver(2, 'Right')], [rack]), locationId(4, 'Foyer', [])],
  unplaced: [receiver(1, 'Spare', { ip: null })],
}

it('locationOptions labels each location with its path', () => {
  expect(locationOptions(layout)).toEqual([
    { id: 1, path: 'Hall', within: [1] },
    { id: 2, path: 'Hall / Rack 1', within: [1, 2] },
    { id: 4, path: 'Foyer', within: [4] },
  ])
})

it('receiversOf lists the location of each receiver, receivers without one first', () => {
  expect(receiversOf(layout).map(({ receiver: { id }, locationId: at }) => [id, at])).toEqual([
    [1, null],
    [2, 1],
    [3, 2],
  ])
})

describe('filterLayout', () => {
  it.each([
    ['to nothing in particular', {}, [1, 2, 3]],
    ['to a name', { search: ' LEFT ' }, [3]],
    ['to an address', { search: '10.0.0.2' }, [2]],
    ['to a channel', { search: 'vox 1' }, [1]],
    ['to a person', { search: 'nora', slotRecords }, [2]],
    ['to a position', { search: 'slot 3' }, [3]],
    ['to a locationId and what is in it', { search: 'hall' }, [2, 3]],
    ['to offline receivers', { isActive: false }, [3]],
    ['to both', { search: 'hall', isActive: true }, [2]],
    ['to what is nowhere', { search: 'balcony' }, []],
  ] as const)('%s', (_what, search, ids) => {
    expect(receiversOf(filterLayout(layout, search)).map(({ receiver: { id } }) => id)).toEqual(ids)
  })

  it('leaves out locations without a match', () => {
    expect(locationOptions(filterLayout(layout, { search: 'left' })).map(({ path }) => path)).toEqual([
      'Hall',
      'Hall / Rack 1',
    ])
  })
})
