import { expect, it } from 'vitest'
import { defaultView, memoryOf, searchOf, sharedSearchOf, viewOf } from './view.ts'

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

it('writes non-default values, keeps unknown parameters, and parses back to the same view', () => {
  const view = viewOf('?group=2&manufacturer=shure&layout=list&detail=status&q=anna')
  expect(searchOf(view, '?x=1')).toBe('?x=1&manufacturer=shure&group=2&q=anna&layout=list&detail=status')
  expect(viewOf(searchOf(view))).toEqual(view)
  expect(searchOf(defaultView, '?sort=problems&q=anna')).toBe('')
})

it('a shared view overrides the stored settings of another device', () => {
  const shared = sharedSearchOf(viewOf('?group=2'))
  expect(viewOf(shared, 'sort=problems&theme=light&layout=list')).toEqual(viewOf('?group=2'))
})
