import { expect, test } from 'vitest'
import type { Location } from '../../contract/locations.ts'
import { toDraft } from '../identity/ingest-plan.ts'
import { isCircular, toLayout } from './location.ts'
import { emptyChannel, type Receiver } from './receiver.ts'

const locations: Location[] = [
  {
    id: 1,
    name: 'Theatre',
    description: '',
    zone: null,
    country: null,
    latitude: null,
    longitude: null,
    parent: null,
    version: 1,
  },
  {
    id: 2,
    name: 'Stage',
    description: '',
    zone: null,
    country: null,
    latitude: null,
    longitude: null,
    parent: 1,
    version: 1,
  },
  {
    id: 3,
    name: 'Rack A',
    description: 'left',
    zone: null,
    country: null,
    latitude: null,
    longitude: null,
    parent: 2,
    version: 1,
  },
]

function receiver(id: number, location: number | null): Receiver {
  const draft = toDraft('shure', { id: `d${id}`, kind: 'receiver' }, 0)
  return { ...draft, id, location, channels: [emptyChannel(id * 10, 1, id)] }
}

const pack = { id: 7, name: 'EW-DX SK, bay 1', battery: 64, is_online: true, details: { battery_minutes_to_full: 75 } }

// Conformance: C-5.51.
test('toLayout nests locations and lists their receivers and packs', () => {
  const layout = toLayout(locations, [receiver(1, 3), receiver(2, null), receiver(3, 3)], (id) =>
    id === 3 ? [pack] : [],
  )
  expect(layout.unplaced.map(({ id }) => id)).toEqual([2])
  expect(layout.locations).toMatchObject([
    {
      name: 'Theatre',
      receivers: [],
      locations: [
        {
          name: 'Stage',
          locations: [
            {
              id: 3,
              receivers: [
                { id: 1, channels: [{ id: 10, slot: 1 }], units: [] },
                { id: 3, units: [pack] },
              ],
            },
          ],
        },
      ],
    },
  ])
})

test.each([
  [1, 3, true],
  [1, 1, true],
  [2, 3, true],
  [3, 1, false],
  [2, null, false],
])('isCircular with %i inside %s is %s', (id, parent, expected) => {
  expect(isCircular(locations, id, parent)).toBe(expected)
})
