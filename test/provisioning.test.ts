import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashSync } from '@node-rs/argon2'
import { expect, it } from 'vitest'
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

// Conformance: C-26.19.
it('a missing provisioning file is named', async () => {
  await expect(startApp({ config: { provisioning: '/nowhere/p.yaml' } })).rejects.toThrow(/nowhere\/p\.yaml/)
})
