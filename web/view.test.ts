import { expect, it } from 'vitest'
import { addressOf, defaultView, memoryOf, sharedSearchOf, viewOf } from './view.ts'

it('prefers the URL to stored settings, and those to defaults', () => {
  expect(viewOf('')).toEqual(defaultView)
  expect(viewOf('', 'sort=problems&theme=light')).toMatchObject({ sort: 'problems', theme: 'light' })
  expect(viewOf('?sort=name', 'sort=problems&theme=light')).toMatchObject({ sort: 'name', theme: 'light' })
})

it.each([
  '?sort=upside-down',
  '?manufacturer=<b>',
  '?group=0',
  '?group=two',
  '?group=-1',
  '?layout=&detail=everything&theme=pink',
  '?x=1',
  '?q=%20',
])('ignores unknown values: %s', (search) => {
  expect(viewOf(search)).toEqual(defaultView)
})

it('does not restore filters', () => {
  expect(viewOf('', 'q=anna&group=2&state=off&manufacturer=shure')).toEqual(defaultView)
  expect(memoryOf(viewOf('?q=anna&group=2&sort=rf'))).not.toMatch(/anna|group/)
})

it('writes the values that are not the defaults', () => {
  const view = viewOf('?group=2&manufacturer=shure&layout=list&detail=status&q=anna')
  const values = { manufacturer: 'shure', group: 2, q: 'anna', layout: 'list', detail: 'status' }
  expect(addressOf(view)).toEqual(values)
  expect(addressOf(defaultView)).toEqual({})
})

it('a shared view overrides the stored settings of another device', () => {
  const shared = sharedSearchOf(viewOf('?group=2'))
  expect(viewOf(shared, 'sort=problems&theme=light&layout=list')).toEqual(viewOf('?group=2'))
})

it('stores the columns of the table and shares them', () => {
  const view = viewOf('?columns=battery,name,nothing,battery,slot')
  expect(view.columns).toBe('battery,name,slot')
  expect(viewOf('', memoryOf(view)).columns).toBe('battery,name,slot')
  expect(viewOf(sharedSearchOf(view), 'columns=slot').columns).toBe('battery,name,slot')
  expect(viewOf('?sort=-quality').sort).toBe('-quality')
})
