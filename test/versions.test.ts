/** Versions of the records that people edit: in the body, as the ETag, and in `If-Match`. */

import { describe, expect, it } from 'vitest'
import { startApp, type TestApp, until } from './support/app.ts'
import { onTestEnd } from './support/cleanup.ts'
import { createTestDatabase, engines } from './support/store/databases.ts'
import { tokenHeaders } from './support/tokens.ts'

interface VersionedRecord {
  readonly collection: string
  /** The request that adds it, to the collection unless it has an address of its own. */
  readonly added: object
  readonly addedTo?: string
  /** The method and the body that changes it; absent if it can only be removed. */
  readonly change?: readonly [method: 'PATCH' | 'PUT', body: (value: string) => object]
}

const title = (value: string) => ({ title: value })
const name = (value: string) => ({ name: value })
/** Every edit that is stored changes the role. */
const role = (value: string) => ({ role: ['One', 'Three'].includes(value) ? 'operator' : 'viewer' })
const admin = '/api/admin/'
const hook = { name: 'Hook', type: 'webhook', config: { url: 'https://hook.example/' } }

const records: Readonly<Record<string, VersionedRecord>> = {
  group: { collection: '/api/groups/', addedTo: '/api/group/', added: title('Band'), change: ['PUT', title] },
  performer: { collection: '/api/performers/', added: name('Ada'), change: ['PUT', name] },
  placeholder: { collection: '/api/placeholders/', added: { kind: 'wired' }, change: ['PATCH', name] },
  show: { collection: '/api/shows/', added: title('Tosca'), change: ['PATCH', title] },
  scene: { collection: '/api/shows/1/scenes/', added: title('Act 1'), change: ['PATCH', title] },
  silence: {
    collection: '/api/silences/',
    added: { kinds: ['stale'], until: new Date(Date.now() + 3_600_000).toISOString() },
  },
  marker: {
    collection: '/api/events/',
    addedTo: '/api/markers/',
    added: { text: 'Applause' },
    change: ['PATCH', (text) => ({ text })],
  },
  profile: {
    collection: '/api/frequencies/profiles/',
    added: { name: 'Hall', levels: { standard: {} } },
    change: ['PATCH', name],
  },
  location: { collection: `${admin}locations/`, added: name('Rack'), change: ['PATCH', name] },
  receiver: {
    collection: `${admin}receivers/`,
    added: { manufacturer: 'shure', name: 'Spare', serial_number: '7' },
    change: ['PATCH', name],
  },
  manufacturer: {
    collection: `${admin}manufacturers/`,
    added: { code: 'second', plugin: 'shure' },
    change: ['PATCH', name],
  },
  user: {
    collection: `${admin}users/`,
    added: { username: 'bo', password: 'correct horse battery', role: 'viewer' },
    change: ['PATCH', role],
  },
  token: { collection: `${admin}tokens/`, added: { name: 'Bot', role: 'viewer' }, change: ['PATCH', name] },
  channel: { collection: `${admin}notification-channels/`, added: hook, change: ['PATCH', name] },
  rule: {
    collection: `${admin}notification-rules/`,
    added: { name: 'Crew', notification_channel_ids: [1] },
    change: ['PATCH', name],
  },
}

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

type Fields = Readonly<Record<string, unknown>>
const keyOf = ({ id, code }: Fields) => id ?? code

async function add(client: Client, { collection, addedTo = collection, added }: VersionedRecord) {
  const { status, headers, json } = await client('POST', addedTo, added)
  expect([status, headers.etag], addedTo).toEqual([201, `"${json.version}"`])
  const path = `${addedTo === '/api/markers/' ? addedTo : collection}${keyOf(json)}/`
  const find = async () => {
    const list = (await client('GET', collection)).json
    return (list.results ?? list).find((one: Fields) => keyOf(one) === keyOf(json))
  }
  return { path, find, version: json.version as number }
}

const malformed = ['x', '12', '"12', '"x"', '""', 'W/12', '"1",']

/** Starts two processes with one database, with a client of each and one without permissions. */
async function startTwo(engine: (typeof engines)[number]) {
  const config = { require_login: true }
  const database = await createTestDatabase(engine)
  onTestEnd(database.drop)
  const manufacturers = [{ code: 'shure', config: {} }]
  const app = await startApp({ databaseUrl: database.url, manufacturers, config })
  const other = await startApp({ databaseUrl: database.url, dataDir: app.dataDir, servesOnly: true, config })
  const headers = await tokenHeaders(app, 'admin')
  const client = clientOf(app, headers)
  const viewer = clientOf(app, await tokenHeaders(app, 'viewer'))
  return { client, otherClient: clientOf(other, headers), viewer }
}

describe.concurrent.each(engines)('versions on %s', (engine) => {
  // Conformance: C-21.80.
  it('are in the body and the ETag of every record, and let one of two simultaneous edits win', async () => {
    const { client, otherClient, viewer } = await startTwo(engine)
    await client('POST', '/api/shows/', title('A show with scenes'))
    await client('POST', `${admin}notification-channels/`, hook)
    for (const [record, of] of Object.entries(records)) {
      const { path, find, version } = await add(client, of)
      const tag = `"${version}"`
      expect((await find()).version, record).toBe(version)
      const read = await client('GET', path)
      if (read.status === 200) expect([read.json.version, read.headers.etag], record).toEqual([version, tag])
      if (of.change === undefined) {
        expect((await client('DELETE', path, undefined, '"999999999"')).status, record).toBe(412)
        expect((await client('DELETE', path, undefined, `W/${tag}`)).status, record).toBe(204)
        continue
      }

      const [method, body] = of.change
      const edit = (value: string, expected?: string) => client(method, path, body(value), expected)
      const first = await edit('One', `W/"999999999", W/${tag}`)
      expect([first.status, first.headers.etag], record).toEqual([200, `"${first.json.version}"`])
      expect(first.json, record).toMatchObject(body('One'))
      expect(first.json.version, record).toBeGreaterThan(version)
      expect((await edit('One')).json.version, record).toBe(first.json.version)

      // The permission is checked before the version, and the version before anything is stored.
      expect((await viewer(method, path, body('Two'), 'x')).status, record).toBe(403)
      for (const text of malformed) expect([(await edit('Two', text)).status, text], record).toEqual([400, text])
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

  // Conformance: C-21.81.
  it('are separate for the settings of each scope', async () => {
    const { client, otherClient, viewer } = await startTwo(engine)
    const { json: group } = await client('POST', '/api/group/', title('Band'))
    for (const scope of ['', '?manufacturer=shure', `?group=${group.id}`]) {
      const path = `/api/config/${scope}`
      const remove = `/api/config/${scope === '' ? '?' : `${scope}&`}key=alert_battery_threshold`
      const set = (value: number, tag?: string, by = client) =>
        by('POST', path, { key: 'alert_battery_threshold', value: String(value) }, tag)
      const before = await client('GET', path)
      expect(before.headers.etag, scope).toBe(`"${before.json.version}"`)
      const first = await set(31, before.headers.etag)
      expect([first.status, first.json.alert_battery_threshold, first.headers.etag], scope).toEqual([
        ...[200, 31, `"${first.json.version}"`],
      ])
      expect(first.json.version, scope).toBeGreaterThan(before.json.version)
      expect((await set(31)).json.version, scope).toBe(first.json.version)
      const listed = (await client('GET', `${admin}settings/${scope}`)).json[0]
      expect(listed.version, scope).toBe(first.json.version)
      expect((await viewer('POST', path, { key: 'alert_battery_threshold', value: '40' }, 'x')).status, scope).toBe(403)
      for (const text of malformed) expect((await set(40, text)).status, scope).toBe(400)
      for (const refused of [
        await set(40, before.headers.etag),
        await client('DELETE', remove, undefined, before.headers.etag),
        await client('DELETE', `${admin}settings/alert_battery_threshold/${scope}`, undefined, before.headers.etag),
      ])
        expect([refused.status, refused.json.current], scope).toEqual([412, first.json])
      const subject = { '': 'the settings', '?manufacturer=shure': 'the settings of manufacturer shure' }[scope]
      const { json: stale } = await set(40, before.headers.etag)
      expect(stale.error, scope).toContain(`newer version of ${subject ?? `the settings of group ${group.id}`}.`)
      const rivals = [set(41, first.headers.etag), set(42, first.headers.etag, otherClient)]
      expect((await Promise.all(rivals)).map(({ status }) => status).toSorted(), scope).toEqual([200, 412])
      const winner = await until('the winner is known', async () => {
        const { headers, json } = await client('GET', path)
        return json.version > first.json.version && headers.etag
      })
      expect((await client('DELETE', remove, undefined, winner)).status, scope).toBe(204)
      expect((await client('GET', path)).headers.etag, scope).not.toBe(before.headers.etag)
      expect((await set(31, before.headers.etag)).status, scope).toBe(412)
    }
  })
})
