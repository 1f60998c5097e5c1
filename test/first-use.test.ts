/** Errors of new users: a shell without the secrets, a typing error, a folder that does not exist. */

import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { entryOf, startHome, startShure, until, withoutPush } from './app.ts'

type Home = Awaited<ReturnType<typeof startHome>>

/** Expects this exit code and exactly these lines. */
async function expectLine(home: Home, args: readonly string[], code: number, line: string | RegExp): Promise<void> {
  const ended = await home.run(args)
  expect({ words: args, code: ended.code, out: ended.out }).toEqual({ words: args, code, out: '' })
  expect(ended.err.trimEnd()).toMatch(line)
  expect(ended.err.trimEnd().split('\n')).toHaveLength(1)
}

/** For tests that start many programs one after the other. */
const patience = 120_000

const password = 'correct horse battery\n'
const asAdmin = ['create_admin', '--username', 'ana', '--password-stdin']

describe('a shell without the secrets', () => {
  it(
    'can run commands that call no system, and stored settings stay',
    async () => {
      const shure = withoutPush(await startShure())
      const secret = String(shure.config.shared_key)
      const entry = entryOf(shure, { shared_key: `$\{SHURE_KEY}` })
      const home = await startHome({ manufacturers: [entry] })
      const polled = await home.run(['poll_devices', '--once'], { SHURE_KEY: secret })
      expect([polled.code, polled.err]).toEqual([0, ''])

      for (const args of [
        ['nodes'],
        ['migrate'],
        ['check_connections'],
        ['realtime_status', '--manufacturer', 'shure'],
        ['export', '--output', 'house.yaml'],
        ['import', 'house.yaml'],
        ['backup', 'house.db'],
        ['restore', 'house.db', '--force'],
      ]) {
        expect([args, (await home.run(args)).code]).toEqual([args, 0])
      }
      expect((await home.run(asAdmin, {}, password)).code).toBe(0)
      for (const args of [['poll_devices', '--once'], ['check_api_health'], ['serve', '--port', '0']]) {
        await expectLine(
          home,
          args,
          2,
          /: manufacturers\.0\.config\.shared_key: the environment variable SHURE_KEY is not set$/,
        )
      }
      // Stored without its secret, the system would reject the credentials.
      await home.write('micwatch.yaml', '')
      expect((await home.run(['check_api_health'])).code).toBe(0)
    },
    patience,
  )

  it(
    'can run a demo, unless a configuration sets its data folder',
    async () => {
      const home = await startHome({ manufacturers: [{ code: 'shure', config: { shared_key: `$\{SHURE_KEY}` } }] })
      const demo = await home.serve(['--demo', '--receivers', '2'])
      demo.kill('SIGTERM')
      expect(await demo.ended).toBe(0)
      await expectLine(home, ['serve', '--demo', '--data-dir', 'kept', '--port', '0'], 2, /no SHURE_KEY$/)
    },
    patience,
  )

  it('reports any other missing variable', async () => {
    const home = await startHome(`database_url: $\{HOUSE}\n`)
    await expectLine(
      home,
      ['backup', 'house.db'],
      2,
      /micwatch\.yaml: database_url: the environment variable HOUSE is not set$/,
    )
  })
})

describe('the example configuration of the README', () => {
  it(
    'starts the service with the variables in the README, and names a missing one',
    async () => {
      const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
      const [, configuration = ''] = /```yaml\n(.*?)```/s.exec(readme) ?? []
      const [, commands = ''] = /```sh\n(npm run build\n.*?)```/s.exec(readme) ?? []
      const variables = [...commands.matchAll(/(\w+)='([^']*)'/g)].map(([, name = '', value = '']) => [name, value])
      const home = await startHome(configuration)
      const service = await home.serve([], Object.fromEntries(variables))
      service.kill('SIGTERM')
      expect(await service.ended).toBe(0)
      await expectLine(home, ['serve', '--port', '0'], 2, /the environment variable SHURE_KEY is not set$/)
      expect(readme).toContain('the environment variable SHURE_KEY is not set')
    },
    patience,
  )
})

describe('a key of secrets from the environment', () => {
  it(
    'decrypts and encrypts them for export, import and restore as well',
    async () => {
      const env = { MICWATCH_SECRET_KEY: 'a5'.repeat(32) }
      const config = { api_base_url: 'http://127.0.0.1:9', shared_key: 'stage' }
      const home = await startHome({ manufacturers: [{ code: 'shure', config }] })
      expect((await home.run(['check_connections'], env)).code).toBe(0)
      const exported = await home.run(['export', '--with-secrets', '--json'], env)
      expect(exported.json().manufacturers[0].config).toEqual(config)
      expect((await home.run(['backup', 'house.db'], env)).code).toBe(0)
      const restored = await home.run(['restore', 'house.db', '--force', '--json'], env)
      expect(restored.json().credentials_unreadable).toEqual([])
      expect(await readdir(join(home.path, 'data'))).not.toContain('secret.key')
    },
    patience,
  )
})

describe('a typing error', () => {
  it(
    'in the arguments of a demo is reported',
    async () => {
      const home = await startHome()
      for (const flag of ['--seed', '--receivers']) {
        await expectLine(home, ['serve', flag, '3'], 2, `micwatch: ${flag} can only be used with --demo`)
      }
      expect(await readdir(home.path)).toEqual([])
    },
    patience,
  )

  it(
    'in the listen address is reported',
    async () => {
      const home = await startHome({ server: { host: '300.1.1.1' } })
      await expectLine(home, ['serve'], 2, 'micwatch: micwatch.yaml: server.host: expected a host name or address')
      const other = await startHome()
      await expectLine(
        other,
        ['serve', '--host', 'nobody.invalid'],
        1,
        /server\.host: .*nobody\.invalid .*127\.0\.0\.1$/,
      )
      await expectLine(other, ['serve', '--host', '192.0.2.1'], 1, /server\.host: 192\.0\.2\.1 is no address of this/)
    },
    patience,
  )

  it('in the scheme of a system is not reported as an invalid certificate', async () => {
    const shure = withoutPush(await startShure())
    const api_base_url = shure.baseUrl.replace('http:', 'https:')
    const home = await startHome({ manufacturers: [entryOf(shure, { api_base_url })] })
    const { code, err } = await home.run(['check_api_health'])
    expect([code, err]).toEqual([
      1,
      `shure: ${new URL(shure.baseUrl).host} does not use TLS; try http:// instead of https://, or another port\n`,
    ])
  })

  it(
    'in a file name is reported with that name',
    async () => {
      const home = await startHome()
      expect((await home.run(['migrate'])).code).toBe(0)
      const nowhere = join(home.path, 'nope', 'house')
      const noFolder = `micwatch: ${nowhere} cannot be written: the folder ${join(home.path, 'nope')} does not exist`
      await expectLine(home, ['export', '--output', nowhere], 1, noFolder)
      await expectLine(home, ['backup', nowhere], 1, noFolder)
      await expectLine(home, ['backup', nowhere, '--force'], 1, noFolder)
      await mkdir(join(home.path, 'shelf'))
      await expectLine(home, ['export', '--output', 'shelf'], 1, 'micwatch: shelf cannot be written: it is a folder')
      await home.write('file', '')
      await expectLine(
        home,
        ['migrate', '--data-dir', 'file/data'],
        1,
        /file\/data cannot be written: .*file is not a folder/,
      )
      expect((await readdir(home.path)).sort()).toEqual(['data', 'file', 'shelf'])
    },
    patience,
  )
})

/** Returns the arguments that a shell makes of a printed command. */
function wordsOf(command: string): string[] {
  const { stdout } = spawnSync('sh', ['-c', `printf '%s\\n' ${command.replace('<name>', 'ana')}`], { encoding: 'utf8' })
  return stdout.trimEnd().split('\n')
}

describe('the first administrator', () => {
  it(
    'is created in the running service with the command that it prints at the start',
    async () => {
      const home = await startHome()
      await writeFile(join(home.path, "the venue's.yaml"), 'server: {host: 0.0.0.0}')
      const args = ['--config', "the venue's.yaml", '--data-dir', 'back stage']
      const service = await home.serve(args)
      const hint = await until('the hint', () => / run: micwatch (.*)\n/.exec(service.err())?.[1])
      const command = wordsOf(hint)
      expect(command).toEqual(['create_admin', '--username', 'ana', ...args])
      const created = await home.run([...command, '--password-stdin'], {}, password)
      expect([created.code, created.out, created.err]).toEqual([0, 'ana is an administrator.\n', ''])
      const signedIn = await service.post('/api/auth/login', { username: 'ana', password: password.trim() })
      expect(signedIn.status).toBe(200)
    },
    patience,
  )

  it(
    'is created in a demo in the same way',
    async () => {
      const home = await startHome()
      const service = await home.serve(['--demo', '--receivers', '2', '--host', '0.0.0.0'])
      const hint = await until('the hint', () => / run: micwatch (.*)\n/.exec(service.err())?.[1])
      expect((await home.run([...wordsOf(hint), '--password-stdin'], {}, password)).err).toBe('')
      const signedIn = await service.post('/api/auth/login', { username: 'ana', password: password.trim() })
      expect(signedIn.status).toBe(200)
    },
    patience,
  )

  it(
    'can be created before the first start, and the new database is reported',
    async () => {
      const home = await startHome()
      const path = join(home.path, 'data', 'micwatch.db')
      const first = await home.run([...asAdmin, '--json'], {}, password)
      expect([first.code, first.json().created]).toEqual([0, true])
      expect(first.err).toBe(`There was no database at ${path}; a new one was created.\n`)
      expect((await home.run([...asAdmin, '--reset'], {}, password)).err).toBe('')
    },
    patience,
  )
})

describe('Ctrl+C', () => {
  it('passed on by npm as well stops a demo in order, and leaves no files behind', async () => {
    const home = await startHome()
    const folder = join(home.path, 'tmp')
    await mkdir(folder)
    const demo = await home.serve(['--demo', '--receivers', '2'], { TMPDIR: folder })
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^micwatch-demo-/)])
    demo.kill('SIGINT')
    setTimeout(() => demo.kill('SIGINT'), 20)
    expect(await demo.ended).toBe(0)
    expect(await readdir(folder)).toEqual([])
  })
})
