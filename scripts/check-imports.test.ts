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

const validTree = {
  'src/main.ts': `import { serve } from './cli/serve.ts'\nserve(process.argv)`,
  'src/cli/serve.ts': `import { createApp } from '../app.ts'`,
  'src/app.ts': `import { receivers } from './store/receivers.ts'\nimport { listPlugins } from './manufacturers/index.ts'`,
  'src/store/receivers.ts': `import type { Receiver } from '../model/receiver.ts'`,
  'src/monitor/poller.ts': `import type { UpstreamClient } from '../upstream/client.ts'`,
  'src/upstream/client.ts': `import type { RateLimit } from '../model/rate-limit.ts'`,
  'src/model/receiver.ts': `import type { RateLimit } from './rate-limit.ts'\nexport interface Receiver { process: RateLimit }`,
  'src/model/rate-limit.ts': `// process.env appears only in this comment\nexport const text = 'process.env'`,
  'src/simulation/show.ts': `import '../model/rate-limit.ts'`,
  'src/manufacturers/index.ts': `import { shure } from './shure/index.ts'`,
  'src/manufacturers/plugin.ts': `import type { UpstreamClient } from '../upstream/client.ts'`,
  'src/manufacturers/shure/index.ts': `import { definePlugin } from '../plugin.ts'\nimport './client.ts'`,
  'src/manufacturers/shure/client.ts': '',
  'src/manufacturers/shure/simulator.ts': `import '../../simulation/show.ts'`,
  'src/manufacturers/shure/plugin.test.ts': `import '../../../test/plugin-kit.ts'\nimport './simulator.ts'`,
  'src/manufacturers/sennheiser/index.ts': `import { definePlugin } from '../plugin.ts'`,
  'test/plugin-kit.ts': `import { createApp } from '../src/app.ts'\nprocess.env`,
  'web/main.tsx': `import { text } from '../src/model/rate-limit.ts'\nimport './main.css'\nconst p = <p>Don't // 'quote</p>`,
}

function check(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return checkImports(root, 5)
}

test('reports nothing for a valid tree', () => {
  expect(check(validTree)).toEqual({ modules: 18, imports: 20, violations: [] })
})

describe('reports a violation for', () => {
  test.each([
    [
      'an import of a higher layer',
      'src/model/a.ts',
      `import '../store/receivers.ts'`,
      'model may import nothing; not store',
    ],
    [
      'a type import of a higher layer',
      'src/store/a.ts',
      `import type { A } from '../app.ts'`,
      'store may import model, time-slice, clock, thread; not app',
    ],
    [
      'an import() type of a higher layer',
      'src/store/a.ts',
      `type A = import('../app.ts').A`,
      'store may import model, time-slice, clock, thread; not app',
    ],
    [
      'a dynamic import of a higher layer',
      'src/live/a.ts',
      `await import('../app.ts')`,
      'live may import model, clock; not app',
    ],
    [
      'a re-export from a higher layer',
      'src/live/a.ts',
      `export * from '../app.ts'`,
      'live may import model, clock; not app',
    ],
    [
      'an import of a layer on the same level',
      'src/live/a.ts',
      `import '../store/receivers.ts'`,
      'live may import model, clock; not store',
    ],
    [
      'a value import where only types are allowed',
      'src/monitor/a.ts',
      `import { createClient } from '../upstream/client.ts'`,
      'only types of upstream',
    ],
    [
      'an import of test code',
      'src/store/a.ts',
      `import '../../test/plugin-kit.ts'`,
      'only tests may import test code',
    ],
    ['server code in the pages', 'web/a.ts', `import '../src/http/a.ts'`, 'web may import model; not http'],
    ['a Node.js module in the pages', 'web/a.ts', `import 'node:fs'`, 'may not import Node.js modules'],
    ['a Node.js module in the model', 'src/model/a.ts', `import 'node:fs'`, 'may not import Node.js modules'],
    [
      'an import of another manufacturer',
      'src/manufacturers/shure/a.ts',
      `import '../sennheiser/index.ts'`,
      'may not import another manufacturer',
    ],
    [
      'an internal module of a manufacturer',
      'src/monitor/a.ts',
      `import '../manufacturers/shure/client.ts'`,
      'may import only index.ts and simulator.ts',
    ],
    [
      'the simulation in a manufacturer',
      'src/manufacturers/shure/a.ts',
      `import '../../simulation/show.ts'`,
      'not simulation',
    ],
    [
      'the list of manufacturers in a manufacturer',
      'src/manufacturers/shure/a.ts',
      `import '../index.ts'`,
      'not manufacturers/index',
    ],
    ['an unknown folder', 'src/utils/a.ts', `import '../model/rate-limit.ts'`, 'utils has no row'],
  ])('%s', (_name, file, text, rule) => {
    const { violations } = check({ ...validTree, [file]: text })
    expect(violations).toEqual([expect.stringContaining(`${file} -> `)])
    expect(violations[0]).toContain(rule)
  })

  test.each([
    ['in an expression', 'src/config.ts', `\nexport const home = process.env.HOME`, 'src/config.ts:2'],
    ['as an import', 'src/config.ts', `import { env } from 'node:process'`, 'src/config.ts:1'],
    ['through globalThis', 'src/config.ts', `globalThis.process.exit()`, 'src/config.ts:1'],
    ['as a type', 'web/a.ts', `type P = typeof process`, 'web/a.ts:1'],
  ])('a use of process %s', (_name, file, text, location) => {
    expect(check({ ...validTree, [file]: text }).violations).toEqual([
      expect.stringContaining(`${location} -> process`),
    ])
  })

  test('a cycle, even if it consists of type imports', () => {
    const { violations } = check({
      ...validTree,
      'src/model/a.ts': `import type { B } from './b.ts'`,
      'src/model/b.ts': `import { type C } from './c.ts'`,
      'src/model/c.ts': `export type { A } from './a.ts'`,
    })
    expect(violations).toEqual(['src/model/a.ts -> src/model/b.ts -> src/model/c.ts -> src/model/a.ts: import cycle'])
  })

  test('a file that imports itself', () => {
    const { violations } = check({ ...validTree, 'src/model/a.ts': `import './a.ts'` })
    expect(violations).toEqual(['src/model/a.ts -> src/model/a.ts: import cycle'])
  })

  test('an empty tree', () => {
    expect(check({}).violations).toEqual([expect.stringContaining('found only 0 modules with 0 imports')])
  })
})

test('throws if a file cannot be parsed', () => {
  expect(() => check({ ...validTree, 'src/model/a.ts': 'const = 1' })).toThrow('src/model/a.ts cannot be parsed')
})
