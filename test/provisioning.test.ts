import { createHash } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashSync } from '@node-rs/argon2'
import { expect, it } from 'vitest'
import { findProvisioningProblems } from '../src/http/app/provisioning.ts'
import { startApp } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { createTestFolder } from './support/store/databases.ts'

const token = 'a-token-of-the-operator_of_this_venue'
const password = 'correct horse battery'
const provisioned = `
users:
  - { username: crew, role: operator, password_hash: "${hashSync(password, { memoryCost: 8192, timeCost: 1 })}" }
tokens:
  - { name: Prometheus, role: admin, sha256: ${createHash('sha256').update(token).digest('hex')} }
settings: { HISTORY: false, TIME_ZONE: Europe/Berlin }
groups:
  - { title: Band, slots: [] }
notification_channels:
  - { name: Crew, type: ntfy, config: { url: "http://127.0.0.1:1", topic: mics } }
notification_rules:
  - { name: Everything, notification_channels: [Crew] }
`

async function writeFiles(text: string): Promise<string> {
  const { path, drop } = await createTestFolder()
  onTestEnd(drop)
  await writeFile(join(path, 'provisioning.yaml'), text)
  return join(path, 'provisioning.yaml')
}

// Conformance: C-26.18.
it('a provisioning file is applied at every start, audited, and removes nothing', async () => {
  const provisioning = await writeFiles(provisioned)
  const first = await startApp({ config: { provisioning } })
  const headers = { authorization: `Bearer ${token}` }
  const users = (await first.get('/api/admin/users/', headers)).json
  expect(users).toMatchObject([{ username: 'crew', role: 'operator' }])
  const signIn = await first.post('/api/auth/login', { username: 'crew', password })
  expect(signIn.status).toBe(200)
  expect((await first.get('/api/groups/', headers)).json).toMatchObject([{ title: 'Band' }])
  const rules = (await first.get('/api/admin/notification-rules/', headers)).json
  expect(rules).toMatchObject([{ name: 'Everything', notification_channel_ids: [expect.any(Number)] }])
  const actions = async (app: typeof first) => {
    const records = (await app.get('/api/admin/audit/', headers)).json as { action: string; actor: { name: string } }[]
    return records.flatMap(({ action, actor }) => (actor.name === 'provisioning' ? action : []))
  }
  const audited = await actions(first)
  expect(audited).toEqual(['configuration.import', 'token.create', 'user.create'])
  expect((await first.post('/api/group/', { title: 'Of a user', slots: [] }, headers)).status).toBe(201)
  await first.close()

  const { databaseUrl, dataDir } = first
  const again = await startApp({ databaseUrl, dataDir, config: { provisioning } })
  expect(await actions(again)).toEqual(audited)
  const titles = (await again.get('/api/groups/', headers)).json.map(({ title }: { title: string }) => title)
  expect(titles).toEqual(['Band', 'Of a user'])
})

// Conformance: C-26.19.
it.each([
  [
    'users: [{ username: a, role: owner, password_hash: x }]',
    /users\.0\.role: expected one of viewer, operator, admin/,
  ],
  ['users: [{ username: "ana k", role: admin, password_hash: x }]', /users\.0\.username: expected 1 to 64 letters/],
  ['usres: []', /usres: unknown key; did you mean users\?/],
  ['tokens: [', /not valid YAML/],
  ['settings: { HISTORY: 5 }', /settings\.HISTORY: expected/],
  ['notification_rules: [{ name: a, notification_channels: [none] }]', /notification_rules\.0/],
])('a service with the provisioning file %s does not start', async (text, message) => {
  const provisioning = await writeFiles(text)
  await expect(startApp({ config: { provisioning } })).rejects.toThrow(message)
})

const channel = 'notification_channels:\n  - { name: Crew, type: ntfy, config: '
const user = `{ username: ana, role: viewer, password_hash: "${hashSync(password, { memoryCost: 8192, timeCost: 1 })}" }`

// Conformance: C-26.41.
it.each([
  [`users:\n  - ${user}\n  - ${user.replace('ana', 'ANA')}\n`, 'users.1.username', 3],
  [
    `tokens: [${[1, 2].map((name) => `{ name: "${name}", role: viewer, sha256: ${'a'.repeat(64)} }`)}]`,
    'tokens.1.sha256',
    1,
  ],
  ['settings: { TIME_ZONE: Mars/Base }', 'settings.TIME_ZONE', 1],
  [`${channel}{ url: nonsense, topic: mics } }`, 'notification_channels.0.config.url', 2],
  ['notification_rules: [{ name: a, notification_channels: [none] }]', 'notification_rules.0', 1],
])('config check finds what a schema cannot express in %s, and the start changes nothing', async (text, key, line) => {
  const provisioning = await writeFiles(text)
  const { path, drop } = await createTestFolder()
  onTestEnd(drop)
  const data = { provisioning, database_url: `sqlite:${join(path, 'micwatch.db')}` }
  expect(findProvisioningProblems(data)).toMatchObject([{ file: provisioning, key, line }])
  await expect(startApp({ databaseUrl: data.database_url, dataDir: path, config: { provisioning } })).rejects.toThrow(
    key,
  )
  expect(await readdir(path)).toEqual([])
})

// Conformance: C-26.41.
it('config check finds these beside what does not fit the schema', async () => {
  const rule = '{ name: a, notification_channels: [none], groups: [none] }'
  const text = (groups: string) => `usres: []\ngroups: ${groups}\nnotification_rules: [${rule}]\n`
  const keysOf = async (groups: string) => {
    const problems = findProvisioningProblems({
      provisioning: await writeFiles(text(groups)),
      database_url: 'sqlite:none',
    })
    return problems.map(({ key, what }) => [key, what])
  }
  expect(await keysOf('[]')).toEqual([
    ['usres', 'unknown key'],
    ['notification_rules.0', 'the notification channel none does not exist'],
    ['notification_rules.0', 'the group none does not exist'],
  ])
  // The groups are not known.
  expect(await keysOf('[5]')).toEqual([
    ['usres', 'unknown key'],
    ['groups.0', expect.any(String)],
  ])
})

// Conformance: C-26.41.
it('config check permits what stored records may complete', async () => {
  const provisioning = await writeFiles(`${channel}{ topic: new } }\n`)
  const { databaseUrl } = await startApp()
  expect(findProvisioningProblems({ provisioning, database_url: databaseUrl })).toEqual([])
})

// Conformance: C-26.19.
it('a missing provisioning file is named', async () => {
  await expect(startApp({ config: { provisioning: '/nowhere/p.yaml' } })).rejects.toThrow(/nowhere\/p\.yaml/)
})
