/** Users who sign in, for tests of permissions. */

import { expect } from 'vitest'
import { createHasher } from '../../src/actions/access/hasher.ts'
import { createAdmin, createUser } from '../../src/actions/access/people.ts'
import type { Role } from '../../src/contract/values.ts'
import type { TestApp } from './app.ts'
import type { HttpResponse } from './http-client.ts'
import { withDatabase } from './store/databases.ts'

export const password = 'correct horse battery'
/** One for all tests of this process, because each starts a thread. */
export const hasher = createHasher()
/** Configuration of a listener that is reachable from the network. */
export const lan = { server: { host: '0.0.0.0' } }

const actor = { kind: 'cli', id: null, name: 'test', role: 'admin', address: null } as const

export async function addAdmin(app: { databaseUrl: string }, username = 'root') {
  const admin = { username, password, isReset: false }
  const created = await withDatabase(app, (db) => createAdmin(db, hasher, actor, admin))
  return created.user
}

/** Adds the user that `openAs` uses for this role, with the permission to listen. */
export async function addListeningUser(app: { databaseUrl: string }, role: Role): Promise<void> {
  const user = { username: `the-${role}`, password, role, permissions: ['listen'] } as const
  await withDatabase(app, (db) => createUser(db, hasher, actor, user))
}

export function cookieOf(response: HttpResponse): string {
  return (response.headers['set-cookie'] ?? []).map((header) => header.split(';')[0]).join('; ')
}

/** Returns the attributes of a Set-Cookie header in alphabetical order, because their order has no meaning. */
export function attributesOf(setCookie: string): readonly string[] {
  return setCookie.split('; ').slice(1).sort()
}

/** Signs in and returns the headers of the session. */
export async function signIn(app: Pick<TestApp, 'post'>, username = 'root', secret = password) {
  const response = await app.post('/api/auth/login', { username, password: secret })
  if (response.status !== 200) throw new Error(`sign-in responded with ${response.status} ${response.bytes}`)
  return { cookie: cookieOf(response), 'x-csrf-token': response.json.csrf_token as string }
}

export async function createToken(app: TestApp, admin: Record<string, string>, role: Role) {
  const { status, json } = await app.post('/api/admin/tokens/', { name: `a ${role}`, role }, admin)
  expect(status).toBe(201)
  return { id: json.id as number, token: json.token as string, headers: { authorization: `Bearer ${json.token}` } }
}
