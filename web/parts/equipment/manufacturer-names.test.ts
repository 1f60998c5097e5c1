import { expect, it } from 'vitest'
import { initialState, type WatchState } from '../../app/watch-state.ts'
import { displayName, manufacturerName } from './manufacturer-names.tsx'

const manufacturers = [{ code: 'shure', name: 'Shure' }]
const loaded = { health: { manufacturers } } as unknown as Pick<WatchState, 'health'>

it.each([
  ['the display name', loaded, 'shure', 'Shure'],
  ['the code of an unknown manufacturer', loaded, 'removed', 'removed'],
  ['the code while the health is not loaded', initialState(0), 'shure', 'shure'],
] as const)('returns %s', (_what, watchState, code, name) => {
  expect(manufacturerName(watchState, code)).toBe(name)
})

it('returns the code of a manufacturer whose name is empty', () => {
  expect(displayName({ code: 'shure', name: '\u200e' })).toBe('shure')
})
