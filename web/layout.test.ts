import { describe, expect, it } from 'vitest'
import type { LayoutLocation, LayoutReceiver } from '../src/model/location.ts'
import { narrow, placesOf, receiversOf } from './layout.ts'

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

const place = (
  id: number,
  name: string,
  receivers: LayoutReceiver[],
  locations: LayoutLocation[] = [],
): LayoutLocation => ({
  id,
  name,
  description: '',
  receivers,
  locations,
})

const rack = place(2, 'Rack 1', [receiver(3, 'Left', { is_active: false })])
const layout = {
  locations: [place(1, 'Hall', [receiver(2, 'Right')], [rack]), place(4, 'Foyer', [])],
  unplaced: [receiver(1, 'Spare', { ip: null })],
}

it('tells places by the way to them', () => {
  expect(placesOf(layout)).toEqual([
    { id: 1, path: 'Hall', within: [1] },
    { id: 2, path: 'Hall / Rack 1', within: [1, 2] },
    { id: 4, path: 'Foyer', within: [4] },
  ])
})

it('tells where each receiver stands, those without a place first', () => {
  expect(receiversOf(layout).map(({ receiver: { id }, place: at }) => [id, at])).toEqual([
    [1, null],
    [2, 1],
    [3, 2],
  ])
})

describe('narrowed', () => {
  it.each([
    ['to nothing in particular', {}, [1, 2, 3]],
    ['to a name', { search: ' LEFT ' }, [3]],
    ['to an address', { search: '10.0.0.2' }, [2]],
    ['to a channel', { search: 'vox 1' }, [1]],
    ['to a position', { search: 'slot 3' }, [3]],
    ['to a place and what is in it', { search: 'hall' }, [2, 3]],
    ['to what is not heard', { isActive: false }, [3]],
    ['to both', { search: 'hall', isActive: true }, [2]],
    ['to what is nowhere', { search: 'balcony' }, []],
  ] as const)('%s', (_what, wanted, ids) => {
    expect(receiversOf(narrow(layout, wanted)).map(({ receiver: { id } }) => id)).toEqual(ids)
  })

  it('leaves out places where nothing fits', () => {
    expect(placesOf(narrow(layout, { search: 'left' })).map(({ path }) => path)).toEqual(['Hall', 'Hall / Rack 1'])
  })
})
