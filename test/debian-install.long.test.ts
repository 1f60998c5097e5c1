/** The Debian package in a minimal Debian, as an administrator installs, updates, removes and purges it. */

import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gunzipSync } from 'node:zlib'
import { DatabaseSync } from '@photostructure/sqlite'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { freePort } from '../scripts/free-port.ts'
import { buildDeb } from '../scripts/package/deb.ts'
import { readBuild, writeProgram } from '../scripts/package/program.ts'
import { type Target, targets } from '../scripts/package/targets.ts'
import { client, commit, until, version } from './support/app.ts'
import { installDebianPackage } from './support/debian-package.ts'
import { createDebianRoot, type DebianRoot, requireDebianRoot, type Service } from './support/debian-root.ts'
import { timeLimit } from './support/time-limit.ts'
import { password, signIn } from './support/users.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const fixtures = fileURLToPath(new URL('fixtures/0.1.0/', import.meta.url))
const previous = '0.0.1'
let debs: string

beforeAll(async () => {
  await requireDebianRoot()
  debs = await mkdtemp(join(tmpdir(), 'micwatch-debs-'))
  for (const each of [previous, version]) buildPackage(each)
}, 600_000)
afterAll(() => rm(debs, { recursive: true, force: true }))

/** Builds the package of this tree under a version. */
function buildPackage(packageVersion: string): void {
  const target = targets.find(({ name }) => name === 'deb-amd64') as Target
  const [program, work] = [join(debs, 'program'), join(debs, 'work')]
  writeProgram(program, { root, target, cache: join(root, 'node_modules/.cache/micwatch-package') })
  const source = { ...readBuild(root), version: packageVersion }
  const deb = buildDeb({ root, source, program, work, isFast: true }, 'amd64')
  writeFileSync(join(debs, `micwatch_${packageVersion}_amd64.deb`), deb)
  rmSync(work, { recursive: true })
}

/** Installs a version as the documents say, and expects success. */
async function install(debian: DebianRoot, packageVersion: string): Promise<void> {
  const name = `micwatch_${packageVersion}_amd64.deb`
  writeFileSync(join(debian.path, name), readFileSync(join(debs, name)))
  await apt(debian, 'install', '--allow-downgrades', '--reinstall', `./${name}`)
}

async function apt(debian: DebianRoot, ...args: string[]): Promise<void> {
  const { code, text } = await debian.run(['apt-get', '--yes', ...args])
  expect({ args, code, text }).toMatchObject({ code: 0 })
}

/** Runs the command of the installed unit as its user. */
function startUnit(debian: DebianRoot): Service {
  const unit = readFileSync(join(debian.path, 'lib/systemd/system/micwatch.service'), 'utf8')
  const [, command = ''] = /^ExecStart=(.*)$/m.exec(unit) ?? []
  const [, user = ''] = /^User=(.*)$/m.exec(unit) ?? []
  return debian.start(command.split(' '), `${user}:${user}`)
}

/** Starts the unit and expects it to respond within the promised time. */
async function serve(debian: DebianRoot, port: number): Promise<Service & ReturnType<typeof client>> {
  const service = startUnit(debian)
  const http = client(`http://127.0.0.1:${port}`)
  const startedAt = performance.now()
  const respond = async () => (await http.get('/healthz')).json.status === 'ok'
  await Promise.race([
    until('the service responds', respond, 15_000),
    service.ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${service.text()}`))),
  ])
  expect(performance.now() - startedAt).toBeLessThan(timeLimit(15_000))
  return { ...service, ...http }
}

async function stop(service: Service): Promise<void> {
  service.kill('SIGTERM')
  expect(await service.ended).toBe(0)
}

const link = 'etc/systemd/system/multi-user.target.wants/micwatch.service'
const isEnabled = (debian: DebianRoot) => readdirSync(join(debian.path, link, '..')).includes('micwatch.service')

/** Returns what the package and its service have left behind. */
function listRemains({ path }: DebianRoot): readonly string[] {
  const folders = ['etc', 'lib/systemd', 'opt', 'usr/bin', 'usr/share/doc', 'var/lib']
  const present = folders.filter((folder) => existsSync(join(path, folder)))
  const found = present.flatMap((folder) =>
    readdirSync(join(path, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  return found.filter((name) => /micwatch/.test(name) && !name.startsWith('var/lib/apt'))
}

// Conformance: C-17.86.
it('the package installs in a minimal Debian without systemd, and serves as its user', async () => {
  const debian = await createDebianRoot()
  expect((await debian.run(['sh', '-c', 'command -v systemctl node'])).code).not.toBe(0)
  await install(debian, version)
  expect(isEnabled(debian)).toBe(true)
  const port = await freePort()
  appendFileSync(join(debian.path, 'etc/micwatch/micwatch.yaml'), `server:\n  port: ${port}\n`)
  const { uid } = statSync(join(debian.path, 'var/lib/micwatch'))
  const first = await serve(debian, port)
  expect(uid).toBeGreaterThan(0)
  expect(readFileSync(`/proc/${first.pid}/status`, 'utf8')).toMatch(new RegExp(`^Uid:\\s+${uid}\\s+${uid}`, 'm'))
  const created = await first.post('/api/group/', { title: 'Stage left', slots: [1] })
  expect(created.status).toBe(201)
  first.kill('SIGKILL')
  expect(await first.ended).toBeNull()
  // As after a power failure.
  const second = await serve(debian, port)
  expect((await second.get('/api/groups/')).json).toMatchObject([{ title: 'Stage left' }])
  await stop(second)
  // Commands see the variables of the service, in the syntax of the unit's EnvironmentFile.
  const environment = join(debian.path, 'etc/micwatch/micwatch.env')
  appendFileSync(environment, 'SHURE_KEY=a#b\n')
  const entry = '{ code: shure, api_enabled: false, config: { shared_key: "$' + '{SHURE_KEY}" } }'
  appendFileSync(join(debian.path, 'etc/micwatch/micwatch.yaml'), `manufacturers: [${entry}]\n`)
  const doctor = await debian.run(['micwatch', 'doctor', '--json'], 'micwatch:micwatch')
  const { checks } = JSON.parse(doctor.text)
  expect([doctor.code, checks.filter((check: { ok: boolean | null }) => check.ok !== true)]).toEqual([0, []])
  expect((await debian.run(['micwatch', 'check_api_health'], 'micwatch:micwatch')).code).toBe(0)
  // A file that only root may read is not passed over.
  await debian.run(['chown', 'root:root', '/etc/micwatch/micwatch.env'])
  expect(await debian.run(['micwatch', 'nodes'], 'micwatch:micwatch')).toMatchObject({
    code: 2,
    text: expect.stringContaining('/etc/micwatch/micwatch.env cannot be read: permission denied'),
  })
  // Another user cannot read the configuration, and can still run what needs none.
  const denied = await debian.run(['micwatch', 'doctor'], 'nobody:nogroup')
  expect(denied).toMatchObject({ code: 1, text: expect.stringContaining('sudo -u micwatch micwatch doctor') })
  const demo = debian.start(['micwatch', 'serve', '--demo', '--port', '0'], 'nobody:nogroup')
  await until('the demo runs', () => /shows a simulated venue/.test(demo.text()))
  demo.kill('SIGTERM')
  expect(await demo.ended).toBe(0)
})

// Conformance: C-17.87.
it('an update keeps data, configuration and disabled units; then the package is removed and purged', async () => {
  const debian = await createDebianRoot()
  await install(debian, previous)
  const [port, data] = [await freePort(), join(debian.path, 'var/lib/micwatch')]
  const configuration = join(debian.path, 'etc/micwatch/micwatch.yaml')
  appendFileSync(configuration, `server:\n  port: ${port}\nrequire_login: true\n`)
  const { uid, gid } = statSync(data)
  // The data of an installation of version 0.1.0.
  writeFileSync(join(data, 'micwatch.db'), gunzipSync(readFileSync(join(fixtures, 'micwatch.db.gz'))))
  writeFileSync(join(data, 'secret.key'), readFileSync(join(fixtures, 'secret.key')))
  await debian.run(['sh', '-c', 'chmod -R go= /var/lib/micwatch; chown -R micwatch:micwatch /var/lib/micwatch'])
  await install(debian, version)
  expect((await debian.run(['dpkg-query', '--show', '--showformat=$' + '{Version}', 'micwatch'])).text).toBe(version)
  const served = JSON.parse(gunzipSync(readFileSync(join(fixtures, 'served-sqlite.json.gz'))).toString()).answers
  const readNames = async () => {
    const service = await serve(debian, port)
    const headers = await signIn(service, 'root', password)
    const { json } = await service.get('/api/performers/', headers)
    await stop(service)
    return json.map(({ name }: { name: string }) => name)
  }
  const names = served['/api/performers/'].map(({ name }: { name: string }) => name)
  expect(names).toHaveLength(3)
  expect(await readNames()).toEqual(names)

  await apt(debian, 'remove', 'micwatch')
  expect(existsSync(join(debian.path, 'opt/micwatch'))).toBe(false)
  expect(readdirSync(data)).toContain('micwatch.db')
  await install(debian, version)
  expect([isEnabled(debian), statSync(data).uid, statSync(data).gid]).toEqual([true, uid, gid])
  expect(readFileSync(configuration, 'utf8')).toContain(`port: ${port}`)
  expect(await readNames()).toEqual(names)

  // As by `systemctl disable`.
  rmSync(join(debian.path, link))
  await install(debian, version)
  expect(isEnabled(debian)).toBe(false)
  rmSync(configuration)
  await install(debian, version)
  expect(existsSync(configuration)).toBe(false)

  const database = new DatabaseSync(join(data, 'micwatch.db'))
  database.exec("insert into migrations values ('9999-far-ahead', 0)")
  database.close()
  writeFileSync(configuration, 'data_dir: /var/lib/micwatch\n')
  const refused = startUnit(debian)
  expect([await refused.ended, refused.text()]).toEqual([
    1,
    expect.stringMatching(/newer version of Micwatch.*Update Micwatch, or restore a backup/),
  ])

  await apt(debian, 'purge', 'micwatch')
  expect(listRemains(debian)).toEqual([])
  expect(readFileSync(join(debian.path, 'etc/passwd'), 'utf8')).not.toContain('micwatch')
})

/** Creates the key of a repository, and returns it armoured. */
async function createSigningKey(): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'micwatch-gpg-'))
  const gpg = (...args: string[]) =>
    execFileSync('gpg', ['--homedir', home, '--batch', '--quiet', '--passphrase', '', ...args], { encoding: 'utf8' })
  try {
    gpg('--quick-generate-key', 'Micwatch packages', 'ed25519', 'sign', 'never')
    return gpg('--pinentry-mode', 'loopback', '--armor', '--export-secret-keys')
  } finally {
    execFileSync('gpgconf', ['--homedir', home, '--kill', 'all'])
    await rm(home, { recursive: true })
  }
}

// Conformance: C-26.29.
it('apt installs from the repository, updates, and goes back as the documents say, without losing anything', async () => {
  for (const name of ['apt-utils', 'gnupg']) await installDebianPackage(name)
  const debian = await createDebianRoot()
  const repository = join(debian.path, 'srv/apt')
  const APT_SIGNING_KEY = await createSigningKey()
  const publish = (packageVersion: string) => {
    const folder = join(debs, `published-${packageVersion}`)
    mkdirSync(folder)
    const name = `micwatch_${packageVersion}_amd64.deb`
    linkSync(join(debs, name), join(folder, name))
    const script = join(root, 'scripts/release/apt-repository')
    execFileSync(script, [folder, repository], { env: { ...process.env, APT_SIGNING_KEY }, stdio: 'pipe' })
  }
  const source = ['Types: deb', 'URIs: file:/srv/apt', 'Suites: stable', 'Components: main']
  const signedBy = 'Signed-By: /srv/apt/micwatch.asc'
  // In place of the sources of Debian, so that only this repository is read.
  rmSync(join(debian.path, 'etc/apt/sources.list'), { force: true })
  writeFileSync(join(debian.path, 'etc/apt/sources.list.d/micwatch.sources'), `${[...source, signedBy].join('\n')}\n`)
  const port = await freePort()

  publish(previous)
  await apt(debian, 'update')
  await apt(debian, 'install', 'micwatch')
  appendFileSync(join(debian.path, 'etc/micwatch/micwatch.yaml'), `server:\n  port: ${port}\n`)
  const first = await serve(debian, port)
  expect((await first.post('/api/group/', { title: 'Stage left', slots: [1] })).status).toBe(201)
  const micwatch = (...args: string[]) => debian.run(['micwatch', ...args], 'micwatch:micwatch')
  const backup = '/var/lib/micwatch/before-update.db'
  expect(await micwatch('backup', backup)).toMatchObject({ code: 0 })
  await stop(first)

  publish(version)
  await apt(debian, 'update')
  await apt(debian, 'upgrade')
  const updated = await serve(debian, port)
  expect((await updated.get('/api/health/')).json).toMatchObject({ version, commit })
  expect((await updated.get('/api/groups/')).json).toMatchObject([{ title: 'Stage left' }])
  await stop(updated)
  const database = new DatabaseSync(join(debian.path, 'var/lib/micwatch/micwatch.db'))
  database.exec("insert into migrations values ('9999-of-the-update', 0)")
  database.close()

  await apt(debian, 'install', '--allow-downgrades', `micwatch=${previous}`)
  expect(await startUnit(debian).ended).toBe(1)
  expect(await micwatch('restore', '--force', backup)).toMatchObject({ code: 0 })
  const restored = await serve(debian, port)
  expect((await restored.get('/api/groups/')).json).toMatchObject([{ title: 'Stage left' }])
  await stop(restored)

  // A repository that someone else has changed is refused.
  appendFileSync(join(repository, 'dists/stable/InRelease'), 'changed\n')
  rmSync(join(repository, 'dists/stable/Release.gpg'))
  expect((await debian.run(['apt-get', 'update', '-o', 'APT::Update::Error-Mode=any'])).code).not.toBe(0)
})
