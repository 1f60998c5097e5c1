/** The version of every record that people edit: in its body, as its ETag, and in `If-Match`. */

import { describe, expect, it } from 'vitest'
import { startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { createTestDatabase, engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

interface VersionedRecord {
  readonly collection: string
  /** The body that adds it; undefined if it exists. */
  readonly added?: object
  /** The method and the body that changes it; undefined if it can only be removed. */
  readonly change?: readonly [method: 'PATCH' | 'PUT', body: (value: string) => object]
}

const title = (value: string) => ({ title: value })
const name = (value: string) => ({ name: value })

const records: Readonly<Record<string, VersionedRecord>> = {
  group: { collection: '/api/groups/', change: ['PUT', title] },
  performer: { collection: '/api/performers/', added: name('Ada'), change: ['PUT', name] },
  placeholder: { collection: '/api/placeholders/', added: { kind: 'wired' }, change: ['PATCH', name] },
  show: { collection: '/api/shows/', added: title('Tosca'), change: ['PATCH', title] },
  rule: {
    collection: '/api/admin/notification-rules/',
    added: { name: 'Crew', notification_channel_ids: [1] },
    change: ['PATCH', name],
  },
}

const hook = { name: 'Hook', type: 'webhook', config: { url: 'https://hook.example/' } }

type Client = ReturnType<typeof clientOf>

function clientOf(app: TestApp, own: Record<string, string>) {
  return (method: string, path: string, body?: unknown, tag?: string) =>
    app.send(method, path, {
      headers: {
        ...own,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(tag !== undefined && { 'if-match': tag }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
}

async function add(client: Client, record: string, { collection, added }: VersionedRecord) {
  const { json } =
    record === 'group' ? await client('POST', '/api/group/', title('Band')) : await client('POST', collection, added)
  const key = json.id ?? json.code
  const path = `${collection}${key}/`
  const find = async () => {
    const { json: list } = await client('GET', collection)
    return list.find((one: Readonly<Record<string, unknown>>) => (one.id ?? one.code) === key)
  }
  return { path, find, version: json.version as number }
}

describe.concurrent.each(engines)('versions on %s', (engine) => {
  // Conformance: C-21.80.
  it('are in the body and the ETag of every record, and decide about edits in two processes', async () => {
    const config = { require_login: true }
    const database = await createTestDatabase(engine)
    onTestEnd(database.drop)
    const app = await startApp({ databaseUrl: database.url, config })
    const other = await startApp({ databaseUrl: database.url, dataDir: app.dataDir, servesOnly: true, config })
    const viewer = clientOf(app, await tokenHeaders(app, 'viewer'))
    const headers = await tokenHeaders(app, 'admin')
    const client = clientOf(app, headers)
    const otherClient = clientOf(other, headers)
    await client('POST', '/api/admin/notification-channels/', hook)
    for (const [record, of] of Object.entries(records)) {
      const { path, find, version } = await add(client, record, of)
      const tag = `"${version}"`
      expect(version, record).toBeGreaterThan(0)
      expect((await find()).version, record).toBe(version)
      const read = await client('GET', path)
      if (read.status !== 404) expect([read.json.version, read.headers.etag], record).toEqual([version, tag])
      if (of.change === undefined) continue

      const [method, body] = of.change
      const edit = (value: string, expected?: string) => client(method, path, body(value), expected)
      const first = await edit('One', `W/"1", W/${tag}`)
      expect([first.status, first.headers.etag], record).toEqual([200, `"${first.json.version}"`])
      expect(first.json, record).toMatchObject(body('One'))
      expect(first.json.version, record).toBeGreaterThan(version)

      // The permission is checked before the version, and the version before anything is stored.
      expect((await viewer(method, path, body('Two'), 'x')).status, record).toBe(403)
      for (const malformed of ['x', '12', '"12', '"x"', '""', 'W/12', '"1",'])
        expect([(await edit('Two', malformed)).status, malformed], record).toEqual([400, malformed])
      for (const stale of [tag, `W/${tag}`, '"999999999"'])
        for (const refused of [await edit('Two', stale), await client('DELETE', path, undefined, stale)]) {
          expect(refused.status, record).toBe(412)
          expect(refused.json, record).toMatchObject({
            status: 412,
            details: expect.any(String),
            current: await find(),
          })
        }
      expect((await find()).version, record).toBe(first.json.version)
      expect((await edit('Two', '*')).status, record).toBe(200)
      const { json: last } = await edit('Three')
      expect(last, record).toMatchObject(body('Three'))

      await until(
        'the other process has it',
        async () => (await otherClient('GET', path)).json.version === last.version,
      )
      const rivals = [client, otherClient].map((rival, index) =>
        rival(method, path, body(`Rival ${index}`), `"${last.version}"`),
      )
      const statuses = (await Promise.all(rivals)).map(({ status }) => status)
      expect(statuses.toSorted(), record).toEqual([200, 412])
      const winner = await until('the winner is known', async () => {
        const present = await find()
        return present.version === last.version ? undefined : present
      })
      expect(winner, record).toMatchObject(body(`Rival ${statuses.indexOf(200)}`))

      expect((await client('DELETE', path, undefined, `"${winner.version}"`)).status, record).toBe(204)
      expect((await edit('Four', `"${winner.version}"`)).status, record).toBe(404)
    }
  })
})
