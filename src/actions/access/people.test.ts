/** Users, sessions, tokens, sign-in attempts and the audit log, on both engines. */

import { describe, expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../../test/support/eventually.ts'
import { engines } from '../../../test/support/store/databases.ts'
import { openStore } from '../../../test/support/store/helpers.ts'
import { timeLimit } from '../../../test/support/time-limit.ts'
import type { AuditAction } from '../../contract/values.ts'
import type { Actor } from '../../domain/access/access.ts'
import { sessionLimits } from '../../domain/access/people.ts'
import { anyVersion } from '../../domain/versions.ts'
import { listAudit, pruneAudit, writeAudit } from '../../storage/audit.ts'
import { type Database, openDatabase } from '../../storage/database.ts'
import {
  changePeople,
  countAdmins,
  deleteOldSessions,
  deleteSession,
  findSessions,
  findUserByName,
  insertSession,
  insertToken,
  insertUser,
  listUsers,
} from '../../storage/people.ts'
import { openSecrets } from '../../storage/secrets.ts'
import { Access } from './access.ts'
import { Credentials, createSecret, hashOf, tokenText } from './credentials.ts'
import type { Hasher } from './hasher.ts'
import { changeUser, createUser, removeUser } from './people.ts'
import { signIn } from './sign-in.ts'

const cli: Actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null }
const secrets = await openSecrets('', 'ab'.repeat(32))
const log = { debug() {}, info() {}, warn() {}, error() {} }
/** A fast hash, because the cost of the real one does not matter in these tests. */
const hasher: Hasher = {
  hash: async (password) => `hash of ${password}`,
  verify: async (hash, password) => hash === `hash of ${password}`,
  close: async () => {},
}
const password = 'correct horse battery'

function addUser(db: Database, username: string, role: 'viewer' | 'operator' | 'admin' = 'admin') {
  return createUser(db, hasher, cli, { username, password, role })
}

function createAccess(db: Database) {
  return new Access({ db, log, secrets, hasher })
}

describe.each(engines)('users (%s)', (engine) => {
  it('are found under any spelling of their name, and names are unique', async () => {
    const db = await openStore(engine)
    const ana = await addUser(db, 'Ana')
    expect(await findUserByName(db.read, 'ANA')).toMatchObject({ id: ana.id, username: 'Ana', is_active: true })
    await expect(addUser(db, 'aNa')).rejects.toMatchObject({ code: 'name_taken' })
    expect(await listUsers(db.read)).toEqual([ana])
    expect(JSON.stringify(await listUsers(db.read))).not.toContain('hash')
  })

  it('always include an active administrator, even when two are deactivated at once', async () => {
    const db = await openStore(engine)
    const access = createAccess(db)
    const [ana, ben] = [await addUser(db, 'ana'), await addUser(db, 'ben')]
    const results = await Promise.allSettled([
      changeUser(access, cli, ana.id, { is_active: false }, anyVersion),
      changeUser(access, cli, ben.id, { role: 'viewer' }, anyVersion),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    expect(await countAdmins(db.read)).toBe(1)
    const last = (await listUsers(db.read)).find((user) => user.role === 'admin' && user.is_active)
    await expect(removeUser(access, cli, last?.id ?? 0, anyVersion)).rejects.toMatchObject({ code: 'last_admin' })
  })

  it('never reuse an id', async () => {
    const db = await openStore(engine)
    await addUser(db, 'ana')
    const ben = await addUser(db, 'ben')
    await removeUser(createAccess(db), cli, ben.id, anyVersion)
    expect((await addUser(db, 'ben')).id).toBeGreaterThan(ben.id)
  })
})

describe.each(engines)('sessions (%s)', (engine) => {
  it('belong to active users, and are deleted with them', async () => {
    const db = await openStore(engine)
    const { id } = await addUser(db, 'ana')
    await addUser(db, 'ben')
    const hash = hashOf(createSecret())
    await db.transaction((tx) => insertSession(tx, { hash, user_id: id, now: Date.now(), address: null, agent: null }))
    expect(await findSessions(db.read, [hash])).toMatchObject([{ hash, user: { username: 'ana' } }])
    await changeUser(createAccess(db), cli, id, { is_active: false }, anyVersion)
    expect(await findSessions(db.read, [hash])).toEqual([])
  })

  it('are limited in number, and expire by age and by inactivity', async () => {
    const db = await openStore(engine)
    const { id } = await addUser(db, 'ana')
    const hashes = Array.from({ length: sessionLimits.perUser + 2 }, () => hashOf(createSecret()))
    for (const [index, hash] of hashes.entries()) {
      await db.transaction((tx) =>
        insertSession(tx, { hash, user_id: id, now: 1000 + index, address: null, agent: null }),
      )
    }
    expect(await findSessions(db.read, hashes)).toHaveLength(sessionLimits.perUser)
    expect(await findSessions(db.read, hashes.slice(0, 2))).toEqual([])
    await db.transaction((tx) => deleteOldSessions(tx, 1010 + sessionLimits.idleMs))
    expect(await findSessions(db.read, hashes)).toHaveLength(hashes.length - 11)
  })
})

describe.each(engines)('credentials (%s)', (engine) => {
  async function openSession(db: Database, credentials: Credentials) {
    const { id } = await addUser(db, 'ana')
    const secret = createSecret()
    await db.transaction((tx) =>
      insertSession(tx, { hash: hashOf(secret), user_id: id, now: Date.now(), address: null, agent: null }),
    )
    const found = await credentials.find(secret, '127.0.0.1')
    if (found === null) throw new Error('the session is not found')
    return { secret, found, id }
  }

  it('are revoked within a second in other processes that use them', async () => {
    const db = await openStore(engine)
    const other = await openDatabase({ url: db.url })
    onTestFinished(() => other.close())
    const credentials = new Credentials(db, log)
    const controller = new AbortController()
    const running = credentials.watch(controller.signal)
    const { secret, found } = await openSession(db, credentials)
    expect(credentials.find(secret, '127.0.0.1')).toBe(found)
    const ended = new Promise<number>((resolve) => found.hold({ warn() {}, end: () => resolve(performance.now()) }))
    const startedAt = performance.now()
    await other.transaction(async (tx) => {
      await changePeople(tx)
      await deleteSession(tx, found.hash)
    })
    expect((await ended) - startedAt).toBeLessThan(timeLimit(1500))
    expect(await credentials.find(secret, '127.0.0.1')).toBeNull()
    controller.abort()
    await running
  })

  it('that have expired notify a new subscriber at once', async () => {
    const db = await openStore(engine)
    const credentials = new Credentials(db, log)
    const { found, id } = await openSession(db, credentials)
    credentials.end({ user: id })
    let isEnded = false
    found.hold({ warn() {}, end: () => (isEnded = true) })
    expect(isEnded).toBe(true)
  })

  // Reliability: 2.1.7.
  it('are accepted for five minutes while the database is unavailable', async () => {
    const db = await openStore(engine)
    let time = 0
    let isUnavailable = false
    const down = new Error('away')
    const read = new Proxy(db.read, {
      get(target, key) {
        if (isUnavailable) throw down
        const value = Reflect.get(target, key)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const credentials = new Credentials({ ...db, read }, log, { elapsed: () => time })
    const { secret, found } = await openSession(db, credentials)
    isUnavailable = true
    time += 4 * 60_000
    expect(credentials.find(secret, '127.0.0.1')).toBe(found)
    time += 2 * 60_000
    await expect(credentials.find(secret, '127.0.0.1')).rejects.toBe(down)
  })

  it('expire at their limit, with a notification an hour before', async () => {
    const db = await openStore(engine)
    let time = Date.now()
    const credentials = new Credentials(db, log, { wall: () => time })
    const { found } = await openSession(db, credentials)
    const notified: string[] = []
    found.hold({
      warn: (endsAt) => notified.push(`ends in ${Math.floor((endsAt - time) / 60_000)}`),
      end: () => notified.push('end'),
    })
    const controller = new AbortController()
    const running = credentials.watch(controller.signal)
    time += sessionLimits.totalMs - 30 * 60_000
    await eventually(() => notified).toEqual(['ends in 30'])
    time += 31 * 60_000
    await eventually(() => notified).toEqual(['ends in 30', 'end'])
    controller.abort()
    await running
  })

  it('are identified by the hash of the whole token', async () => {
    const db = await openStore(engine)
    const credentials = new Credentials(db, log)
    const secret = createSecret()
    const fields = {
      name: 'kiosk',
      role: 'viewer',
      permissions: [],
      created_by: null,
      created_at: Date.now(),
      expires_at: null,
    } as const
    const { id } = await db.transaction((tx) =>
      insertToken(tx, fields, (created) => hashOf(tokenText(created, secret))),
    )
    expect(await credentials.find(tokenText(id, secret), '::1')).toMatchObject({ kind: 'token', id, name: 'kiosk' })
    for (const wrong of [tokenText(id + 1, secret), tokenText(id, createSecret()), secret, '', 'micwatch_1_']) {
      expect(await credentials.find(wrong, '::1')).toBeNull()
    }
  })
})

describe.each(engines)('sign-in attempts (%s)', (engine) => {
  // Reliability: 1.17, 1.18, C8, 3.6.3.
  it('are counted before they are verified, so that concurrent ones do not exceed the limit', async () => {
    const db = await openStore(engine)
    const access = createAccess(db)
    await addUser(db, 'ana')
    const visitor = { client: '10.0.0.7', address: '10.0.0.7', browser: null, agent: null }
    const wrong = { username: 'ana', password: 'wrong' }
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => signIn(access, visitor, wrong)))
    const codes = results.map((result) => (result.status === 'rejected' ? result.reason.code : 'in'))
    expect(codes.filter((code) => code === 'wrong_credentials')).toHaveLength(5)
    expect(codes.filter((code) => code === 'rate_limited')).toHaveLength(7)
    await expect(signIn(access, visitor, { username: 'ana', password })).rejects.toMatchObject({ code: 'rate_limited' })

    // The limit does not apply to the same account from another IP address, or to another account from this address.
    const elsewhere = await signIn(access, { ...visitor, address: '10.0.0.8' }, { username: 'ana', password })
    await addUser(db, 'ben')
    await signIn(access, visitor, { username: 'ben', password })
    // Nor does it apply to a browser that has signed in before.
    const known = await signIn(access, { ...visitor, browser: elsewhere.browser }, { username: 'ana', password })
    expect(known.browser).toBe(elsewhere.browser)
    const { records } = await listAudit(db.read, { action: 'session.login', limit: 100, offset: 0 })
    // Attempts are counted in one record, unless they are stored at the same time.
    const failed = records.filter(({ result }) => result === 'failed')
    expect(failed.reduce((sum, { count }) => sum + count, 0)).toBe(5)
  })

  // Conformance: C-6.18.
  // Reliability: C8, 3.6.3.
  it('are limited to twenty per IP address across all accounts', async () => {
    const db = await openStore(engine)
    const access = createAccess(db)
    const codes: string[] = []
    for (let index = 0; index < 22; index++) {
      const visitor = { client: '10.0.0.7', address: `2001:db8::${index + 1}`, browser: null, agent: null }
      await signIn(access, visitor, { username: `nobody${index}`, password: 'x' }).catch(({ code }) => codes.push(code))
    }
    expect(codes.slice(0, 20)).toEqual(Array(20).fill('wrong_credentials'))
    expect(codes.slice(20)).toEqual(['rate_limited', 'rate_limited'])
    expect(JSON.stringify(await listAudit(db.read, { limit: 100, offset: 0 }))).not.toContain('nobody')
  })

  it('are reset by a success', async () => {
    const db = await openStore(engine)
    const access = createAccess(db)
    await addUser(db, 'ana')
    const visitor = { client: '10.0.0.7', address: '10.0.0.7', browser: null, agent: null }
    for (let round = 0; round < 3; round++) {
      for (let index = 0; index < 4; index++) {
        await expect(signIn(access, visitor, { username: 'ana', password: 'x' })).rejects.toThrow()
      }
      await signIn(access, visitor, { username: 'ana', password })
    }
  })

  it('fail with a password that was changed meanwhile', async () => {
    const db = await openStore(engine)
    const access = createAccess(db)
    const ana = await addUser(db, 'ana')
    const slow: Hasher = {
      ...hasher,
      async verify(hash, attempted) {
        await changeUser(access, cli, ana.id, { password: 'another fine password' }, anyVersion)
        return hasher.verify(hash, attempted, visitor.client)
      },
    }
    const visitor = { client: '10.0.0.7', address: '10.0.0.7', browser: null, agent: null }
    await expect(
      signIn(new Access({ db, log, secrets, hasher: slow }), visitor, { username: 'ana', password }),
    ).rejects.toMatchObject({
      code: 'wrong_credentials',
    })
  })
})

describe.each(engines)('the audit log (%s)', (engine) => {
  // Conformance: C-5.56.
  // Reliability: 3.11.3.
  it('is listed newest first, by page and by action, and pruned by age and number', async () => {
    const db = await openStore(engine)
    for (let index = 0; index < 7; index++) {
      const action = index % 2 === 0 ? 'session.login' : 'settings.change'
      await db.transaction((tx) =>
        writeAudit(tx, { actor: cli, action, target: `user ${index}`, result: 'ok', details: { index } }),
      )
    }
    const { total, records } = await listAudit(db.read, { limit: 2, offset: 1 })
    expect(total).toBe(7)
    expect(records.map(({ target }) => target)).toEqual(['user 5', 'user 4'])
    expect(records[0]).toMatchObject({
      actor: { kind: 'cli', id: null, name: 'test', address: null },
      details: { index: 5 },
    })
    expect((await listAudit(db.read, { action: 'session.', limit: 9, offset: 0 })).total).toBe(4)
    expect((await listAudit(db.read, { action: 'settings.change', limit: 9, offset: 0 })).total).toBe(3)

    const now = Date.now()
    await db.transaction((tx) => pruneAudit(tx, now, { ageMs: 60_000, rows: 3 }))
    expect((await listAudit(db.read, { limit: 9, offset: 0 })).records.map(({ details }) => details.index)).toEqual([
      6, 5, 4,
    ])
    await db.transaction((tx) => pruneAudit(tx, now + 120_000, { ageMs: 60_000, rows: 3 }))
    expect((await listAudit(db.read, { limit: 9, offset: 0 })).total).toBe(0)
  })

  // Reliability: 3.11.4.
  it('counts repeated minor actions in one record, and all others one by one', async () => {
    const db = await openStore(engine)
    const write = (actor: Actor, action: AuditAction, details = {}) =>
      db.transaction((tx) => writeAudit(tx, { actor, action, target: 'x', result: 'ok', details }))
    const operator: Actor = { ...cli, kind: 'token', id: 7, role: 'operator', address: '10.0.0.7' }
    for (let index = 1; index <= 3; index++) {
      await write(operator, 'marker.change', { text: index })
      await write(operator, 'group.change')
      await write({ ...operator, role: 'viewer' }, 'session.kiosk')
      await write({ ...operator, role: 'viewer', address: `10.0.1.${index}` }, 'session.kiosk')
    }
    const { records } = await listAudit(db.read, { limit: 100, offset: 0 })
    const counts = (action: string) => records.filter((record) => record.action === action).map(({ count }) => count)
    expect(counts('marker.change')).toEqual([3])
    expect(counts('group.change')).toEqual([1, 1, 1])
    expect(counts('session.kiosk').toSorted()).toEqual([1, 1, 1, 3])
    const [marker] = records.filter(({ action }) => action === 'marker.change')
    expect(marker).toMatchObject({ details: { text: 3 }, last_at: expect.any(Number) })
    expect(marker?.last_at).toBeGreaterThanOrEqual(marker?.at ?? Number.POSITIVE_INFINITY)
  })

  // Reliability: 3.11.4.
  it('keeps the records of administrators and operators, whatever weaker clients do', async () => {
    const db = await openStore(engine)
    const weaker: Actor[] = [
      { ...cli, kind: 'guest', role: 'viewer' },
      { ...cli, kind: 'user', role: 'viewer' },
      { ...cli, kind: 'osc', role: 'operator' },
    ]
    await db.transaction(async (tx) => {
      await writeAudit(tx, { actor: cli, action: 'user.create', target: 'user ana', result: 'ok' })
      await writeAudit(tx, { actor: cli, action: 'marker.change', target: '1', result: 'ok' })
      const operator = { ...cli, kind: 'local', role: 'operator' } as const
      await writeAudit(tx, { actor: operator, action: 'group.create', target: 'group 1', result: 'ok' })
      for (const actor of [...weaker, operator]) {
        for (let index = 0; index < 4; index++) {
          const action = actor.kind === 'local' ? 'marker.create' : 'session.logout'
          await writeAudit(tx, { actor, action, target: `${index}`, result: 'ok' })
        }
      }
      await pruneAudit(tx, Date.now(), { ageMs: 60_000, rows: 3 })
    })
    const { records } = await listAudit(db.read, { limit: 100, offset: 0 })
    expect(records.map(({ action }) => action)).toEqual([
      ...['marker.create', 'marker.create', 'marker.create'],
      ...['group.create', 'marker.change', 'user.create'],
    ])
  })

  it('is rolled back with the action', async () => {
    const db = await openStore(engine)
    const work = db.transaction(async (tx) => {
      await insertUser(tx, { username: 'ana', role: 'admin', permissions: [], password: 'x', now: 1 })
      await writeAudit(tx, { actor: cli, action: 'user.create', target: 'user ana', result: 'ok' })
      throw new Error('no')
    })
    await expect(work).rejects.toThrow('no')
    expect((await listAudit(db.read, { limit: 9, offset: 0 })).total).toBe(0)
  })
})
