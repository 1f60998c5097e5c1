import { describe, expect, it } from 'vitest'
import { addressOf, changeView, defaultView, memoryOf, sharedSearchOf, viewOf } from './view.ts'

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

describe('the order of batteries to replace', () => {
  it('is worst first as long as the filter is on, whatever order is remembered', () => {
    expect(viewOf('?state=replace', 'sort=name').sort).toBe('battery')
    const on = changeView({ sort: 'rf', group: 2 }, { state: 'replace' }, 'sort=name')
    expect(on).toMatchObject({ state: 'replace', sort: 'battery', group: 2 })
    expect(addressOf(on)).toEqual({ state: 'replace', group: 2 })
    const off = changeView(addressOf(on), { state: 'all' }, 'sort=name')
    expect(off).toMatchObject({ state: 'all', sort: 'name', group: 2 })
  })

  it('is not remembered', () => {
    expect(memoryOf(viewOf('?state=replace'), 'sort=name')).toMatch(/sort=name/)
    expect(memoryOf(viewOf('?state=replace&sort=rf'))).toMatch(/sort=slot/)
  })

  it('can be changed while the filter is on', () => {
    const bySlot = changeView({ state: 'replace' }, { sort: 'slot' }, 'sort=name')
    expect(addressOf(bySlot)).toEqual({ state: 'replace', sort: 'slot' })
    const searched = changeView(addressOf(bySlot), { q: 'nora' }, 'sort=name')
    expect(searched).toMatchObject({ state: 'replace', sort: 'slot', q: 'nora' })
  })

  it('leaves the order of other filters', () => {
    expect(changeView({ sort: 'rf' }, { state: 'problems' }, '').sort).toBe('rf')
  })
})
