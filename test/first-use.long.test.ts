/** Errors of new users: a shell without the secrets, a typing error, a folder that does not exist. */

import { spawnSync } from 'node:child_process'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { configFor, createInstallation, startShure, until, withoutPush } from './support/app.ts'

type Installation = Awaited<ReturnType<typeof createInstallation>>

/** Expects this exit code and exactly these lines. */
async function expectLine(
  installation: Installation,
  args: readonly string[],
  code: number,
  line: string | RegExp,
): Promise<void> {
  const result = await installation.run(args)
  expect({ words: args, code: result.code, out: result.out }).toEqual({ words: args, code, out: '' })
  expect(result.err.trimEnd()).toMatch(line)
  expect(result.err.trimEnd().split('\n')).toHaveLength(1)
}

/** Time limit for tests that start many programs one after the other. */

const password = 'correct horse battery\n'
const createAdminArgs = ['create_admin', '--username', 'ana', '--password-stdin']

describe('a shell without the secrets', () => {
  it('can run commands that call no system, and keeps the stored settings', async () => {
    const shure = withoutPush(await startShure())
    const secret = String(shure.config.shared_key)
    const entry = configFor(shure, { shared_key: `$\{SHURE_KEY}` })
    const installation = await createInstallation({ manufacturers: [entry] })
    const polled = await installation.run(['poll_devices', '--once'], { SHURE_KEY: secret })
    expect([polled.code, polled.err]).toEqual([0, ''])

    for (const args of [
      ['nodes'],
      ['migrate'],
      ['check_connections'],
      ['realtime_status', '--manufacturer', 'shure'],
      ['export', '--output', 'installation.yaml'],
      ['import', 'installation.yaml'],
      ['backup', 'copy.db'],
      ['restore', 'copy.db', '--force'],
    ]) {
      expect([args, (await installation.run(args)).code]).toEqual([args, 0])
    }
    expect((await installation.run(createAdminArgs, {}, password)).code).toBe(0)
    for (const args of [['poll_devices', '--once'], ['check_api_health'], ['serve', '--port', '0']]) {
      await expectLine(
        installation,
        args,
        2,
        /: manufacturers\.0\.config\.shared_key: the environment variable SHURE_KEY is not set$/,
      )
    }
    // The stored secret is unchanged: without it, the system would reject the credentials.
    await installation.write('micwatch.yaml', '')
    expect((await installation.run(['check_api_health'])).code).toBe(0)
  })

  it('can run a demo, unless a configuration sets its data folder', async () => {
    const installation = await createInstallation({
      manufacturers: [{ code: 'shure', config: { shared_key: `$\{SHURE_KEY}` } }],
    })
    const demo = await installation.serve(['--demo', '--receivers', '2'])
    demo.kill('SIGTERM')
    expect(await demo.ended).toBe(0)
    await expectLine(installation, ['serve', '--demo', '--data-dir', 'kept', '--port', '0'], 2, /SHURE_KEY is not set$/)
  })

  it('reports any other missing variable', async () => {
    const installation = await createInstallation(`database_url: $\{VENUE_DATABASE}\n`)
    await expectLine(
      installation,
      ['backup', 'copy.db'],
      2,
      /micwatch\.yaml: database_url: the environment variable VENUE_DATABASE is not set$/,
    )
  })
})

describe('the example configuration of the README', () => {
  it('starts the service with the variables in the README, and names a missing one', async () => {
    const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
    const [, configuration = ''] = /```yaml\n(.*?)```/s.exec(readme) ?? []
    const [, commands = ''] = /```sh\n(npm run build\n.*?)```/s.exec(readme) ?? []
    const variables = [...commands.matchAll(/(\w+)='([^']*)'/g)].map(([, name = '', value = '']) => [name, value])
    const installation = await createInstallation(configuration)
    const service = await installation.serve([], Object.fromEntries(variables))
    service.kill('SIGTERM')
    expect(await service.ended).toBe(0)
    await expectLine(installation, ['serve', '--port', '0'], 2, /the environment variable SHURE_KEY is not set$/)
    expect(readme).toContain('the environment variable SHURE_KEY is not set')
  })
})

describe('a secret key from the environment', () => {
  it('decrypts and encrypts secrets for export, import and restore as well', async () => {
    const env = { MICWATCH_SECRET_KEY: 'a5'.repeat(32) }
    const config = { api_base_url: 'http://127.0.0.1:9', shared_key: 'stage' }
    const installation = await createInstallation({ manufacturers: [{ code: 'shure', config }] })
    expect((await installation.run(['check_connections'], env)).code).toBe(0)
    const exported = await installation.run(['export', '--with-secrets', '--json'], env)
    expect(exported.json().manufacturers[0].config).toEqual(config)
    expect((await installation.run(['backup', 'copy.db'], env)).code).toBe(0)
    const restored = await installation.run(['restore', 'copy.db', '--force', '--json'], env)
    expect(restored.json().credentials_unreadable).toEqual([])
    expect(await readdir(join(installation.path, 'data'))).not.toContain('secret.key')
  })
})

describe('a typing error', () => {
  it('in the arguments of a demo is reported', async () => {
    const installation = await createInstallation()
    for (const flag of ['--seed', '--receivers']) {
      await expectLine(installation, ['serve', flag, '3'], 2, `micwatch: ${flag} can only be used with --demo`)
    }
    expect(await readdir(installation.path)).toEqual([])
  })

  it('in the listen address is reported', async () => {
    const installation = await createInstallation({ server: { host: '300.1.1.1' } })
    await expectLine(
      installation,
      ['serve'],
      2,
      'micwatch: micwatch.yaml: server.host: expected a host name or address',
    )
    const other = await createInstallation()
    await expectLine(other, ['serve', '--host', 'nobody.invalid'], 1, /server\.host: .*nobody\.invalid .*127\.0\.0\.1$/)
    await expectLine(other, ['serve', '--host', '192.0.2.1'], 1, /server\.host: 192\.0\.2\.1 is not an address of this/)
  })

  it('in the scheme of a system is not reported as an invalid certificate', async () => {
    const shure = withoutPush(await startShure())
    const api_base_url = shure.baseUrl.replace('http:', 'https:')
    const installation = await createInstallation({ manufacturers: [configFor(shure, { api_base_url })] })
    const { code, err } = await installation.run(['check_api_health'])
    expect([code, err]).toEqual([
      1,
      `shure: ${new URL(shure.baseUrl).host} does not use TLS; try http:// instead of https://, or another port\n`,
    ])
  })

  it('in a file name is reported with that name', async () => {
    const installation = await createInstallation()
    expect((await installation.run(['migrate'])).code).toBe(0)
    const hint = 'micwatch doctor checks everything at once.'
    const missingPath = join(installation.path, 'nope', 'copy')
    const missingFolderError = `micwatch: ${missingPath} cannot be written: the folder ${join(installation.path, 'nope')} does not exist; create it first. ${hint}`
    await expectLine(installation, ['export', '--output', missingPath], 1, missingFolderError)
    await expectLine(installation, ['backup', missingPath], 1, missingFolderError)
    await expectLine(installation, ['backup', missingPath, '--force'], 1, missingFolderError)
    await mkdir(join(installation.path, 'shelf'))
    await expectLine(
      installation,
      ['export', '--output', 'shelf'],
      1,
      `micwatch: shelf cannot be written: it is a folder; specify a file in it. ${hint}`,
    )
    await installation.write('file', '')
    await expectLine(
      installation,
      ['migrate', '--data-dir', 'file/data'],
      1,
      /file\/data cannot be written: .*file is not a folder/,
    )
    await expectLine(
      installation,
      ['serve', '--data-dir', 'file'],
      1,
      /^micwatch: .*file is not a folder; specify another path\. micwatch doctor/,
    )
    await expectLine(
      installation,
      ['serve', '--data-dir', '/proc/micwatch/data'],
      1,
      /^micwatch: \/proc\/micwatch\/data cannot be (created|written): /,
    )
    expect((await readdir(installation.path)).sort()).toEqual(['data', 'file', 'shelf'])
  })
})

/** Returns the arguments that a shell parses from a printed command. */
function parseArgs(command: string): string[] {
  const { stdout } = spawnSync('sh', ['-c', `printf '%s\\n' ${command.replace('<name>', 'ana')}`], { encoding: 'utf8' })
  return stdout.trimEnd().split('\n')
}

describe('the first administrator', () => {
  it('is created in the running service with the command that it prints at the start', async () => {
    const installation = await createInstallation()
    await writeFile(join(installation.path, "the venue's.yaml"), 'server: {host: 0.0.0.0}')
    const args = ['--config', "the venue's.yaml", '--data-dir', 'back stage']
    const service = await installation.serve(args)
    const hint = await until('the hint is printed', () => / run: micwatch (.*)\n/.exec(service.err())?.[1])
    const command = parseArgs(hint)
    expect(command).toEqual(['create_admin', '--username', 'ana', ...args])
    const created = await installation.run([...command, '--password-stdin'], {}, password)
    expect([created.code, created.out, created.err]).toEqual([0, 'ana is an administrator.\n', ''])
    const signedIn = await service.post('/api/auth/login', { username: 'ana', password: password.trim() })
    expect(signedIn.status).toBe(200)
  })

  it('is created in a demo in the same way', async () => {
    const installation = await createInstallation()
    const service = await installation.serve(['--demo', '--receivers', '2', '--host', '0.0.0.0'])
    const hint = await until('the hint is printed', () => / run: micwatch (.*)\n/.exec(service.err())?.[1])
    expect((await installation.run([...parseArgs(hint), '--password-stdin'], {}, password)).err).toBe('')
    const signedIn = await service.post('/api/auth/login', { username: 'ana', password: password.trim() })
    expect(signedIn.status).toBe(200)
  })

  it('can be created before the first start, and the new database is reported', async () => {
    const installation = await createInstallation()
    const path = join(installation.path, 'data', 'micwatch.db')
    const first = await installation.run([...createAdminArgs, '--json'], {}, password)
    expect([first.code, first.json().created]).toEqual([0, true])
    expect(first.err).toBe(`There was no database at ${path}; a new one was created.\n`)
    expect((await installation.run([...createAdminArgs, '--reset'], {}, password)).err).toBe('')
  })
})

describe('Ctrl+C', () => {
  it('stops a demo cleanly and leaves no files behind, even if npm passes the signal on a second time', async () => {
    const installation = await createInstallation()
    const folder = join(installation.path, 'tmp')
    await mkdir(folder)
    const demo = await installation.serve(['--demo', '--receivers', '2'], { TMPDIR: folder })
    expect(await readdir(folder)).toEqual([expect.stringMatching(/^micwatch-demo-/)])
    demo.kill('SIGINT')
    // A later second signal would end the process, because Node.js restores the default signal handlers at exit.
    setTimeout(() => demo.kill('SIGINT'), 5)
    expect(await demo.ended).toBe(0)
    expect(await readdir(folder)).toEqual([])
  })
})
