/** What the document says of each route beyond what the route itself says: one row a route. */

import Type, { type TSchema } from 'typebox'
import { auditResults } from '../model/access.ts'
import { alertStates } from '../model/alert.ts'
import { connectionStatuses } from '../model/connection.ts'
import { queueStatuses } from '../model/discovery.ts'
import { onlineStates, unitTypes } from '../model/hardware.ts'
import * as admin from './admin-schemas.ts'
import { countedOf, listOf, pageOf } from './described.ts'
import * as live from './live-schemas.ts'

export const tags = {
  Monitoring: 'Receivers, their channels, the health of the service.',
  Hardware: 'The wall, the rack, and who wears what.',
  Discovery: 'Finding devices, and the devices that moved.',
  Account: 'Signing in and out.',
  Review: 'What an administrator decides about devices and places.',
  Administration: 'Manufacturers, people, tokens, the store, the audit log.',
} as const

/** One route, as the document tells of it. */
export interface Operation {
  readonly tag: keyof typeof tags
  /** One sentence. */
  readonly summary: string
  readonly query?: Readonly<Record<string, TSchema>>
  /** By status; null has no body. */
  readonly answers: Readonly<Record<number, TSchema | null>>
  /** Statuses of refusals besides those that any route can give. */
  readonly refuses?: readonly number[]
}

const manufacturer = { manufacturer: Type.String({ description: 'Code of a manufacturer: only what is of it.' }) }
const paging = {
  page: Type.Integer({ minimum: 1, description: 'Which page; 1 without it.' }),
  page_size: Type.Integer({ minimum: 1, description: 'Items a page: 100 without it, at most 1000.' }),
}
const flagOf = (description: string) => Type.Boolean({ description })
const idOf = (description: string) => Type.Integer({ minimum: 1, description })
const percentOf = (description: string) => Type.Integer({ minimum: 0, maximum: 100, description })
const choiceOf = <Values extends string[]>(values: readonly [...Values], description: string) =>
  Type.Enum(values, { description })
const dayOf = (description: string) =>
  Type.String({ description: `${description}; a day or a time such as 2026-05-01T18:00:00Z.` })

/** A bare array, or with `page` or `page_size` a page of it. */
const list = (item: TSchema) => ({
  200: Type.Union([listOf(item, 'Without paging.'), pageOf(item)], { description: 'All, or the page asked for.' }),
})
const counted = (item: TSchema) => ({ 200: countedOf(item) })
const ok = (answer: TSchema) => ({ 200: answer })
const created = (answer: TSchema) => ({ 201: answer })
const gone = { 204: null }
const cached = { 304: null }

export const operations: Readonly<Record<string, Operation>> = {
  // --- Monitoring
  'GET /api/data.json': {
    tag: 'Monitoring',
    summary: 'The whole picture: receivers with channels, discovered devices, configuration, groups.',
    query: manufacturer,
    answers: { ...ok(live.Data), ...cached },
  },
  'GET /api/data': {
    tag: 'Monitoring',
    summary: 'The same as `/api/data.json`.',
    query: manufacturer,
    answers: { ...ok(live.Data), ...cached },
  },
  'GET /api/receivers': {
    tag: 'Monitoring',
    summary: 'All receivers, in short.',
    query: { ...manufacturer, ...paging },
    answers: { ...list(live.ReceiverSummary), ...cached },
  },
  'GET /api/receivers/{id}': {
    tag: 'Monitoring',
    summary: 'Everything known of one receiver.',
    query: manufacturer,
    answers: { ...ok(live.ReceiverDetail), ...cached },
  },
  'GET /api/health': {
    tag: 'Monitoring',
    summary: 'How the service and its upstreams fare; 503 with the same body while the database is out of reach.',
    query: { manufacturer: Type.String({ description: 'Code of the manufacturer that `vendor_api` is about.' }) },
    answers: { 200: live.Health, 503: live.Health },
  },
  'POST /api/refresh': {
    tag: 'Monitoring',
    summary: 'Polls now.',
    query: manufacturer,
    answers: ok(live.Refresh),
    refuses: [404, 409],
  },
  'GET /api/config': {
    tag: 'Monitoring',
    summary: 'The settings in force, global or of one manufacturer.',
    query: manufacturer,
    answers: ok(live.Configuration),
  },
  'POST /api/config': {
    tag: 'Monitoring',
    summary: 'Changes one setting; answers those in force afterwards.',
    query: manufacturer,
    answers: ok(live.Configuration),
    refuses: [404],
  },
  'GET /api/alerts': {
    tag: 'Monitoring',
    summary: 'Alerts, raised and cleared.',
    query: {
      state: choiceOf(alertStates, 'Only those.'),
      receiver: idOf('Id of a receiver: its own and its channels’ alerts.'),
      ...manufacturer,
      ...paging,
    },
    answers: list(live.Alert),
  },
  'GET /api/openapi.json': {
    tag: 'Monitoring',
    summary: 'This document.',
    answers: { 200: Type.Object({}, { description: 'An OpenAPI 3.1 document.' }), ...cached },
  },

  // --- Hardware
  'GET /api/groups': {
    tag: 'Hardware',
    summary: 'Groups of positions on the wall.',
    query: { ...manufacturer, ...paging },
    answers: list(live.Group),
  },
  'PUT /api/groups/{id}': {
    tag: 'Hardware',
    summary: 'Changes any of the fields of a group.',
    query: manufacturer,
    answers: ok(live.Group),
  },
  'DELETE /api/groups/{id}': {
    tag: 'Hardware',
    summary: 'Removes a group.',
    query: manufacturer,
    answers: gone,
  },
  'POST /api/group': {
    tag: 'Hardware',
    summary: 'With an `id` it changes that group, without one it makes one.',
    query: manufacturer,
    answers: { 200: live.Group, 201: live.Group },
    refuses: [404],
  },
  'PATCH /api/channels/{id}': {
    tag: 'Hardware',
    summary: 'Puts a channel at another position on the wall.',
    query: manufacturer,
    answers: ok(live.Channel),
    refuses: [409],
  },
  'GET /api/chassis': {
    tag: 'Hardware',
    summary: 'Receivers seen as hardware.',
    query: { status: choiceOf(onlineStates, 'Only those.'), ...manufacturer, ...paging },
    answers: list(live.Chassis),
  },
  'GET /api/units': {
    tag: 'Hardware',
    summary: 'Transmitters and in-ear packs.',
    query: {
      battery_percentage: percentOf('Exactly so much.'),
      battery_percentage__gte: percentOf('At least so much.'),
      battery_percentage__lte: percentOf('At most so much.'),
      base_chassis: idOf('Id of the chassis they are heard on.'),
      device_type: choiceOf(unitTypes, 'Only those.'),
      status: choiceOf(onlineStates, 'Only those.'),
      ...manufacturer,
      ...paging,
    },
    answers: list(live.Unit),
  },
  'GET /api/performers': {
    tag: 'Hardware',
    summary: 'Performers, who are of no manufacturer.',
    query: {
      manufacturer: Type.String({ description: 'All with the code of a manufacturer, none with any other.' }),
      ...paging,
    },
    answers: list(live.Performer),
  },
  'POST /api/performers': { tag: 'Hardware', summary: 'Adds a performer.', answers: created(live.Performer) },
  'PUT /api/performers/{id}': { tag: 'Hardware', summary: 'Changes a performer.', answers: ok(live.Performer) },
  'DELETE /api/performers/{id}': {
    tag: 'Hardware',
    summary: 'Removes a performer.',
    answers: gone,
    refuses: [409],
  },
  'GET /api/assignments': {
    tag: 'Hardware',
    summary: 'Who wears which unit.',
    query: {
      is_active: flagOf('Only those that are, or are not.'),
      performer: idOf('Id of a performer.'),
      wireless_unit: idOf('Id of a unit.'),
      names: flagOf("With each performer's name, and what tells that the picture has changed."),
      ...manufacturer,
      ...paging,
    },
    answers: list(live.Assignment),
  },
  'POST /api/assignments': {
    tag: 'Hardware',
    summary: 'Gives a unit to a performer.',
    answers: created(live.Assignment),
    refuses: [409],
  },
  'PUT /api/assignments/{id}': {
    tag: 'Hardware',
    summary: 'Changes an assignment.',
    answers: ok(live.Assignment),
    refuses: [409],
  },
  'DELETE /api/assignments/{id}': { tag: 'Hardware', summary: 'Removes an assignment.', answers: gone },

  // --- Discovery
  'POST /api/discover': {
    tag: 'Discovery',
    summary: 'Searches a subnet for devices.',
    query: manufacturer,
    answers: ok(admin.Scan),
    refuses: [404, 409],
  },
  'GET /api/discovery/pending': {
    tag: 'Discovery',
    summary: 'Devices that wait for review.',
    query: { ...manufacturer, ...paging },
    answers: counted(admin.Pending),
  },
  'GET /api/movements/unacknowledged': {
    tag: 'Discovery',
    summary: 'Movements that nobody has taken note of.',
    query: { ...manufacturer, ...paging },
    answers: counted(admin.Movement),
  },

  // --- Account
  'POST /api/auth/login': {
    tag: 'Account',
    summary: 'Signs in: a session cookie and the token for writes.',
    answers: ok(admin.SignedIn),
    refuses: [401],
  },
  'POST /api/auth/kiosk': {
    tag: 'Account',
    summary: 'Lets a screen look with a token of the role viewer, for as long as that token is good.',
    answers: ok(admin.KioskOpen),
    refuses: [401, 403],
  },
  'POST /api/auth/logout': { tag: 'Account', summary: 'Signs out.', answers: gone },
  'GET /api/auth/session': { tag: 'Account', summary: 'Who asks, and what they may do.', answers: ok(admin.Session) },
  'POST /api/auth/password': {
    tag: 'Account',
    summary: 'Changes the own password; every other session of the user ends.',
    answers: ok(admin.SignedIn),
  },
  'GET /api/auth/setup': {
    tag: 'Account',
    summary: 'Whether the service needs its first administrator.',
    answers: ok(admin.Setup),
  },
  'POST /api/auth/setup': {
    tag: 'Account',
    summary: 'Makes the first administrator, and signs in.',
    answers: created(admin.SignedIn),
    refuses: [409],
  },

  // --- Review
  'GET /api/admin/discovery-queue': {
    tag: 'Review',
    summary: 'The review queue, each entry beside the receiver it stands against.',
    query: {
      status: choiceOf(queueStatuses, 'Only those.'),
      device_type: choiceOf(['receiver', 'transmitter'], 'Only those.'),
      is_duplicate: flagOf('Only those that are, or are not.'),
      is_ip_conflict: flagOf('Only those that are, or are not.'),
      discovered_after: dayOf('Found then or later'),
      discovered_before: dayOf('Found before'),
      ...manufacturer,
      ...paging,
    },
    answers: list(admin.QueueEntry),
  },
  'POST /api/admin/discovery-queue/approve': {
    tag: 'Review',
    summary: 'Approves entries: they become receivers.',
    answers: ok(admin.Review),
    refuses: [409],
  },
  'POST /api/admin/discovery-queue/reject': {
    tag: 'Review',
    summary: 'Rejects entries: they are kept, and never imported by themselves.',
    answers: ok(admin.Review),
    refuses: [409],
  },
  'POST /api/admin/discovery-queue/mark-duplicate': {
    tag: 'Review',
    summary: 'Marks entries as duplicates of what is known.',
    answers: ok(admin.Review),
    refuses: [409],
  },
  'POST /api/admin/discovery-queue/reopen': {
    tag: 'Review',
    summary: 'Puts rejected entries and duplicates back among those that wait.',
    answers: ok(admin.Review),
    refuses: [409],
  },
  'GET /api/admin/movements': {
    tag: 'Review',
    summary: 'The movement log.',
    query: { acknowledged: flagOf('Only those that are, or are not.'), ...manufacturer, ...paging },
    answers: list(admin.Movement),
  },
  'POST /api/admin/movements/acknowledge': {
    tag: 'Review',
    summary: 'Takes note of movements.',
    answers: ok(admin.Review),
    refuses: [409],
  },
  'GET /api/admin/realtime-connections': {
    tag: 'Review',
    summary: 'The real-time subscriptions of receivers.',
    query: { status: choiceOf(connectionStatuses, 'Only those.'), ...manufacturer, ...paging },
    answers: list(live.RealtimeConnection),
  },
  'POST /api/admin/realtime-connections/stop': {
    tag: 'Review',
    summary: 'Stops subscriptions until somebody starts them again.',
    answers: ok(admin.Review),
    refuses: [409],
  },
  'POST /api/admin/realtime-connections/start': {
    tag: 'Review',
    summary: 'Starts subscriptions that were stopped.',
    answers: ok(admin.Review),
    refuses: [409],
  },
  'GET /api/admin/receivers': {
    tag: 'Review',
    summary: 'All receivers with everything known of them.',
    query: { ...manufacturer, ...paging },
    answers: list(live.ReceiverDetail),
  },
  'POST /api/admin/receivers': {
    tag: 'Review',
    summary: 'Adds a receiver that no system has told of.',
    answers: created(live.ReceiverDetail),
    refuses: [409],
  },
  'PATCH /api/admin/receivers/{id}': {
    tag: 'Review',
    summary: 'Changes name, address or place of a receiver; the last two are logged as a movement.',
    answers: ok(live.ReceiverDetail),
    refuses: [409],
  },
  'DELETE /api/admin/receivers/{id}': { tag: 'Review', summary: 'Removes a receiver.', answers: gone, refuses: [409] },
  'GET /api/admin/locations': {
    tag: 'Review',
    summary: 'Locations.',
    query: paging,
    answers: list(admin.Location),
  },
  'POST /api/admin/locations': {
    tag: 'Review',
    summary: 'Adds a location.',
    answers: created(admin.Location),
    refuses: [409],
  },
  'PATCH /api/admin/locations/{id}': {
    tag: 'Review',
    summary: 'Changes a location.',
    answers: ok(admin.Location),
    refuses: [409],
  },
  'DELETE /api/admin/locations/{id}': {
    tag: 'Review',
    summary: 'Removes a location that nothing stands in.',
    answers: gone,
    refuses: [409],
  },
  'GET /api/admin/hardware-layout': {
    tag: 'Review',
    summary: 'Locations, the receivers in them, their channels.',
    query: manufacturer,
    answers: ok(admin.Layout),
  },

  // --- Administration
  'GET /api/admin/manufacturers': {
    tag: 'Administration',
    summary: 'Manufacturers with their configuration, without its secrets.',
    query: { ...manufacturer, ...paging },
    answers: list(admin.ManufacturerRecord),
  },
  'POST /api/admin/manufacturers': {
    tag: 'Administration',
    summary: 'Adds a manufacturer.',
    answers: created(admin.ManufacturerRecord),
    refuses: [409],
  },
  'PATCH /api/admin/manufacturers/{code}': {
    tag: 'Administration',
    summary: 'Changes a manufacturer; keys of `config` are laid over the stored ones.',
    answers: ok(admin.ManufacturerRecord),
    refuses: [409],
  },
  'DELETE /api/admin/manufacturers/{code}': {
    tag: 'Administration',
    summary: 'Removes a manufacturer.',
    answers: gone,
    refuses: [409],
  },
  'POST /api/admin/manufacturers/test': {
    tag: 'Administration',
    summary: 'Tries settings without storing them; with a `code`, laid over the stored ones of that manufacturer.',
    answers: ok(admin.Tested),
  },
  'GET /api/admin/plugins': {
    tag: 'Administration',
    summary: 'What can speak to the systems of a manufacturer.',
    query: paging,
    answers: list(admin.Plugin),
  },
  'POST /api/admin/manufacturers/{code}/test': {
    tag: 'Administration',
    summary: 'Asks its systems now, disabled or not.',
    answers: ok(admin.Tested),
  },
  'GET /api/admin/settings': {
    tag: 'Administration',
    summary: 'The settings in force, global and of each manufacturer, each with where it comes from.',
    query: { ...manufacturer, ...paging },
    answers: list(admin.ScopedSettings),
  },
  'DELETE /api/admin/settings/{key}': {
    tag: 'Administration',
    summary: 'Forgets a stored setting, global or of one manufacturer: what holds without it counts again.',
    query: manufacturer,
    answers: gone,
  },
  'GET /api/admin/users': { tag: 'Administration', summary: 'Users.', query: paging, answers: list(admin.User) },
  'POST /api/admin/users': {
    tag: 'Administration',
    summary: 'Adds a user.',
    answers: created(admin.User),
    refuses: [409],
  },
  'PATCH /api/admin/users/{id}': {
    tag: 'Administration',
    summary: 'Changes role, password or activity of a user.',
    answers: ok(admin.User),
    refuses: [409],
  },
  'DELETE /api/admin/users/{id}': {
    tag: 'Administration',
    summary: 'Removes a user.',
    answers: gone,
    refuses: [409],
  },
  'GET /api/admin/tokens': {
    tag: 'Administration',
    summary: 'API tokens, without their secrets.',
    query: paging,
    answers: list(admin.Token),
  },
  'POST /api/admin/tokens': {
    tag: 'Administration',
    summary: 'Makes a token; its secret is shown this once.',
    answers: created(admin.NewToken),
  },
  'PATCH /api/admin/tokens/{id}': {
    tag: 'Administration',
    summary: 'Changes name, role or end of a token.',
    answers: ok(admin.Token),
  },
  'DELETE /api/admin/tokens/{id}': { tag: 'Administration', summary: 'Revokes a token.', answers: gone },
  'GET /api/admin/nodes': {
    tag: 'Administration',
    summary: 'The processes on this database, and which source each has taken.',
    answers: ok(admin.Nodes),
  },
  'POST /api/admin/store/acknowledge': {
    tag: 'Administration',
    summary: 'Takes note that the database was damaged and a snapshot took its place.',
    answers: ok(admin.StoreAcknowledged),
  },
  'GET /api/admin/audit': {
    tag: 'Administration',
    summary: 'Who did what, the newest first; without paging the newest 1000.',
    query: {
      action: Type.String({ description: 'An action, or with a dot at its end all that begin with it.' }),
      actor: Type.String({ description: 'Part of the name of whoever did it.' }),
      result: choiceOf(auditResults, 'Only those.'),
      after: dayOf('Then or later'),
      before: dayOf('Before'),
      ...paging,
    },
    answers: list(admin.Audit),
  },
}
