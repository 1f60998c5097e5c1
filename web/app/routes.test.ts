import { expect, it } from 'vitest'
import { pages } from '../../src/domain/pages.ts'
import { createPages } from './routes.tsx'

it('contains a route for each page that the service serves', () => {
  const paths = Object.keys(createPages('').routesByPath).map((path) => path.replace('$', ':'))
  expect(paths.sort()).toEqual(pages.map(({ path }) => path).sort())
})
