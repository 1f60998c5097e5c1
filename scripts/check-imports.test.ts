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
  'src/cli/program.ts': `import { serve } from './serve.ts'\nserve(process.argv)`,
  'src/cli/serve.ts': `import { createApp } from '../http/app.ts'`,
  'src/http/app.ts': `import { openRuntime } from '../service.ts'`,
  'src/service.ts': `import { receivers } from './storage/receivers.ts'\nimport { listPlugins } from './manufacturers/index.ts'`,
  'src/storage/receivers.ts': `import type { Receiver } from '../domain/equipment/receiver.ts'`,
  'src/sources/poller.ts': `import type { UpstreamClient } from '../upstream/client.ts'`,
  'src/upstream/client.ts': `import type { RateLimit } from '../domain/access/rate-limit.ts'`,
  'src/domain/equipment/receiver.ts': `import type { RateLimit } from '../access/rate-limit.ts'\nexport interface Receiver { process: RateLimit }`,
  'src/domain/access/limits.ts': `// process.env appears only in this comment\nexport const text = 'process.env'`,
  'simulators/show/show.ts': `import '../../src/domain/access/limits.ts'`,
  'src/manufacturers/index.ts': `import { shure } from './shure/index.ts'`,
  'src/manufacturers/plugin.ts': `import type { UpstreamClient } from '../upstream/client.ts'`,
  'src/manufacturers/shure/index.ts': `import { definePlugin } from '../plugin.ts'\nimport './client.ts'`,
  'src/manufacturers/shure/client.ts': '',
  'simulators/shure/device-api.ts': `import '../show/show.ts'`,
  'src/manufacturers/shure/plugin.test.ts': `import '../../../test/support/plugins/plugin-kit.ts'\nimport '../../../simulators/shure/device-api.ts'`,
  'src/manufacturers/sennheiser/index.ts': `import { definePlugin } from '../plugin.ts'`,
  'test/support/plugins/plugin-kit.ts': `import { createApp } from '../src/http/app.ts'\nprocess.env`,
  'web/main.tsx': `import { text } from '../src/domain/access/limits.ts'\nimport './main.css'\nconst p = <p>Don't // 'quote</p>`,
}

function check(files: Readonly<Record<string, string>>) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text)
  }
  return checkImports(root, 5)
}

test('reports nothing for a valid tree', () => {
  expect(check(validTree)).toEqual({ modules: 19, imports: 21, violations: [] })
})

describe('reports a violation for', () => {
  test.each([
    [
      'an import of a higher layer',
      'src/domain/a.ts',
      `import '../storage/receivers.ts'`,
      'domain may import contract; not storage',
    ],
    [
      'a type import of a higher layer',
      'src/storage/a.ts',
      `import type { A } from '../service.ts'`,
      'storage may import contract, history/levels, domain, platform; not service',
    ],
    [
      'an import() type of a higher layer',
      'src/storage/a.ts',
      `type A = import('../service.ts').A`,
      'storage may import contract, history/levels, domain, platform; not service',
    ],
    [
      'a dynamic import of a higher layer',
      'src/config/a.ts',
      `await import('../service.ts')`,
      'config may import domain, platform; not service',
    ],
    [
      'a re-export from a higher layer',
      'src/config/a.ts',
      `export * from '../service.ts'`,
      'config may import domain, platform; not service',
    ],
    [
      'an import of a layer on the same level',
      'src/config/a.ts',
      `import '../storage/receivers.ts'`,
      'config may import domain, platform; not storage',
    ],
    [
      'a value import where only types are allowed',
      'src/ingest/a.ts',
      `import { openService } from '../service.ts'`,
      'only types of service',
    ],
    [
      'an import of test code',
      'src/storage/a.ts',
      `import '../../test/support/plugins/plugin-kit.ts'`,
      'only tests may import test code',
    ],
    ['server code in the pages', 'web/a.ts', `import '../src/http/a.ts'`, 'web may import contract, domain; not http'],
    ['a Node.js module in the pages', 'web/a.ts', `import 'node:fs'`, 'may not import Node.js modules'],
    ['a Node.js module in the domain', 'src/domain/a.ts', `import 'node:fs'`, 'may not import Node.js modules'],
    [
      'an import of another manufacturer',
      'src/manufacturers/shure/a.ts',
      `import '../sennheiser/index.ts'`,
      'may not import another manufacturer',
    ],
    [
      'an internal module of a manufacturer',
      'src/ingest/a.ts',
      `import '../manufacturers/shure/client.ts'`,
      'may import only index.ts of',
    ],
    [
      'a simulator in a manufacturer',
      'src/manufacturers/shure/a.ts',
      `import '../../../simulators/show/show.ts'`,
      'not simulators',
    ],
    [
      'the list of manufacturers in a manufacturer',
      'src/manufacturers/shure/a.ts',
      `import '../index.ts'`,
      'not manufacturers/index',
    ],
    ['an unknown folder', 'src/utils/a.ts', `import '../domain/access/rate-limit.ts'`, 'utils has no row'],
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
      'src/domain/a.ts': `import type { B } from './b.ts'`,
      'src/domain/b.ts': `import { type C } from './c.ts'`,
      'src/domain/c.ts': `export type { A } from './a.ts'`,
    })
    expect(violations).toEqual([
      'src/domain/a.ts -> src/domain/b.ts -> src/domain/c.ts -> src/domain/a.ts: import cycle',
    ])
  })

  test('a file that imports itself', () => {
    const { violations } = check({ ...validTree, 'src/domain/a.ts': `import './a.ts'` })
    expect(violations).toEqual(['src/domain/a.ts -> src/domain/a.ts: import cycle'])
  })

  test('an empty tree', () => {
    expect(check({}).violations).toEqual([expect.stringContaining('found only 0 modules with 0 imports')])
  })
})

test('throws if a file cannot be parsed', () => {
  expect(() => check({ ...validTree, 'src/domain/a.ts': 'const = 1' })).toThrow('src/domain/a.ts cannot be parsed')
})
