import { expect, it } from 'vitest'
import { formatCoordinates, parseCoordinates } from './coordinates.ts'

it.each([
  ['52.52, 13.405', { latitude: 52.52, longitude: 13.405 }],
  ['52.52,13.405', { latitude: 52.52, longitude: 13.405 }],
  ['52,52; 13,405', { latitude: 52.52, longitude: 13.405 }],
  ['52,52, 13,405', { latitude: 52.52, longitude: 13.405 }],
  ['-33.86 151.21', { latitude: -33.86, longitude: 151.21 }],
  ['33.86° S, 70.5° W', { latitude: -33.86, longitude: -70.5 }],
  ['91, 0', null],
  ['52.52', null],
  ['52.52, 13.405, 7', null],
  ['Berlin, 13', null],
  ['', null],
])('reads coordinates from %j', (text, expected) => {
  expect(parseCoordinates(text)).toEqual(expected)
})

it('writes coordinates as it reads them', () => {
  const place = { latitude: -33.8568, longitude: 151.2153 }
  expect(parseCoordinates(formatCoordinates(place))).toEqual(place)
})
