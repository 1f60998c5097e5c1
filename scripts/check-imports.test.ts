import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { checkImports } from './check-imports.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'check-imports-'))
})

afterEach(() => {
  rmSync(root, { recursive: true })
})

const healthy = {
  'src/main.ts': `import { serve } from './cli/serve.ts'\nserve(process.argv)`,
  'src/cli/serve.ts': `import { createApp } from '../app.ts'`,
  'src/app.ts': `import { receivers } from './store/receivers.ts'\nimport { listPlugins } from './manufacturers/index.ts'`,
  'src/store/receivers.ts': `import type { Receiver } from '../model/receiver.ts'`,
  'src/monitor/poller.ts': `import type { Link } from '../upstream/link.ts'`,
  'src/upstream/link.ts': `import type { Pace } from '../model/pace.ts'`,
  'src/model/receiver.ts': `import type { Pace } from './pace.ts'\nexport interface Receiver { process: Pace }`,
  'src/model/pace.ts': `// process.env is only spoken of\nexport const text = 'process.env'`,
  'src/simulation/house.ts': `import '../model/pace.ts'`,
  'src/manufacturers/index.ts': `import { shure } from './shure/index.ts'`,
  'src/manufacturers/plugin.ts': `import type { Link } from '../upstream/link.ts'`,
  'src/manufacturers/shure/index.ts': `import { definePlugin } from '../plugin.ts'\nimport './client.ts'`,
  'src/manufacturers/shure/client.ts': '',
  'src/manufacturers/shure/simulator.ts': `import '../../simulation/house.ts'`,
  'src/manufacturers/shure/plugin.test.ts': `import '../../../test/plugin-kit.ts'\nimport './simulator.ts'`,
  'src/manufacturers/sennheiser/index.ts': `import { definePlugin } from '../plugin.ts'`,
  'test/plugin-kit.ts': `import { createApp } from '../src/app.ts'\nprocess.env`,
  'web/main.tsx': `import { text } from '../src/model/pace.ts'\nimport './main.css'\nconst p = <p>Don't // 'quote</p>`,
}

function check(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return checkImports(root, 5)
}

test('a house in order has nothing to report', () => {
  expect(check(healthy)).toEqual({ modules: 18, imports: 20, violations: [] })
})

describe('each of these is reported, with both files and the rule', () => {
  test.each([
    ['upwards', 'src/model/a.ts', `import '../store/receivers.ts'`, 'model may import nothing; not store'],
    [
      'upwards, of types',
      'src/store/a.ts',
      `import type { A } from '../app.ts'`,
      'store may import model, breather, clock, thread; not app',
    ],
    [
      'upwards, in a type',
      'src/store/a.ts',
      `type A = import('../app.ts').A`,
      'store may import model, breather, clock, thread; not app',
    ],
    ['upwards, at run time', 'src/live/a.ts', `await import('../app.ts')`, 'live may import model, clock; not app'],
    ['upwards, handed on', 'src/live/a.ts', `export * from '../app.ts'`, 'live may import model, clock; not app'],
    ['sideways', 'src/live/a.ts', `import '../store/receivers.ts'`, 'live may import model, clock; not store'],
    ['values for types', 'src/monitor/a.ts', `import { link } from '../upstream/link.ts'`, 'only types of upstream'],
    ['a test from the product', 'src/store/a.ts', `import '../../test/plugin-kit.ts'`, 'a test is imported by nobody'],
    ['the server from the pages', 'web/a.ts', `import '../src/http/a.ts'`, 'web may import model; not http'],
    ['Node from the pages', 'web/a.ts', `import 'node:fs'`, 'there is no Node'],
    ['Node from the model', 'src/model/a.ts', `import 'node:fs'`, 'there is no Node'],
    ['a neighbour', 'src/manufacturers/shure/a.ts', `import '../sennheiser/index.ts'`, 'do not know each other'],
    ['a manufacturer inside', 'src/monitor/a.ts', `import '../manufacturers/shure/client.ts'`, 'are for others'],
    ['simulation', 'src/manufacturers/shure/a.ts', `import '../../simulation/house.ts'`, 'not simulation'],
    ['the list', 'src/manufacturers/shure/a.ts', `import '../index.ts'`, 'not manufacturers/index'],
    ['an unknown folder', 'src/utils/a.ts', `import '../model/pace.ts'`, 'utils has no row'],
  ])('%s', (_name, file, text, rule) => {
    const { violations } = check({ ...healthy, [file]: text })
    expect(violations).toEqual([expect.stringContaining(`${file} -> `)])
    expect(violations[0]).toContain(rule)
  })

  test.each([
    ['in an expression', 'src/config.ts', `\nexport const home = process.env.HOME`, 'src/config.ts:2'],
    ['as an import', 'src/config.ts', `import { env } from 'node:process'`, 'src/config.ts:1'],
    ['by way of globalThis', 'src/config.ts', `globalThis.process.exit()`, 'src/config.ts:1'],
    ['as a type', 'web/a.ts', `type P = typeof process`, 'web/a.ts:1'],
  ])('process %s', (_name, file, text, place) => {
    expect(check({ ...healthy, [file]: text }).violations).toEqual([expect.stringContaining(`${place} -> process`)])
  })

  test('a cycle, of types too', () => {
    const { violations } = check({
      ...healthy,
      'src/model/a.ts': `import type { B } from './b.ts'`,
      'src/model/b.ts': `import { type C } from './c.ts'`,
      'src/model/c.ts': `export type { A } from './a.ts'`,
    })
    expect(violations).toEqual([
      'src/model/a.ts -> src/model/b.ts -> src/model/c.ts -> src/model/a.ts: imports in a circle',
    ])
  })

  test('a file that imports itself', () => {
    const { violations } = check({ ...healthy, 'src/model/a.ts': `import './a.ts'` })
    expect(violations).toEqual(['src/model/a.ts -> src/model/a.ts: imports in a circle'])
  })

  test('an empty tree', () => {
    expect(check({}).violations).toEqual([expect.stringContaining('saw only 0 modules with 0 imports')])
  })
})

test('a file that cannot be parsed stops the check', () => {
  expect(() => check({ ...healthy, 'src/model/a.ts': 'const = 1' })).toThrow('src/model/a.ts cannot be parsed')
})
