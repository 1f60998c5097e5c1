/** Routes for frequencies: conflicts, suggestions, export and profiles. */

import type { FastifyRequest } from 'fastify'
import { chooseMeasuredScans } from '../../actions/frequencies/choose-measured-scans.ts'
import {
  addFrequencyProfile,
  changeFrequencyProfile,
  removeFrequencyProfile,
} from '../../actions/frequencies/edit-frequency-profiles.ts'
import { listIdleNoise } from '../../actions/frequencies/list-idle-noise.ts'
import { type FrequencyNoiseBody, frequencyOperations, type MeasuredRequest } from '../../contract/frequencies.ts'
import { frequencyProfileOperations } from '../../contract/frequency-profiles.ts'
import type { Body } from '../../contract/schema.ts'
import { includesSite, localSite } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import { carrierIdsOf } from '../../domain/frequencies/check.ts'
import { exportCarriers } from '../../domain/frequencies/export-carriers.ts'
import {
  parseCarriers,
  parseSuggestRequest,
  toCarrierBody,
  toCheckBody,
  toConflictsBody,
} from '../../domain/frequencies/frequency-bodies.ts'
import { byFrequency, isSelected } from '../../domain/frequencies/live-carriers.ts'
import type { Measured } from '../../domain/frequencies/measured.ts'
import { completeMeasured } from '../../domain/frequencies/measured-options.ts'
import { toProfileBodies } from '../../domain/frequencies/profile-changes.ts'
import { measureTvChannels } from '../../domain/frequencies/tv-power.ts'
import { parseTvInUse } from '../../domain/frequencies/tv-raster.ts'
import { globalScope } from '../../domain/settings.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import type { MeasuredOptions } from '../../frequencies/measured-scans.ts'
import { LruMap } from '../../platform/cache.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginateLocal, sendCsvText } from '../server/response.ts'

/** Enough for 1,000 carriers with all their properties. */
const carrierBytes = 512 * 1024
/** Checks and suggestions store nothing. */
const read = { config: { needs: 'read', maxValues: 100_000 } } as const

export function frequencyRoutes(app: ContractServer, service: Service): void {
  checkRoutes(app, service)
  measuredRoutes(app, service)
  noiseRoutes(app, service)
  profileRoutes(app, service)
}

function checkRoutes(app: ContractServer, service: Service): void {
  const { checker, frequencies, measuredScans } = service
  const region = () => service.settings.inScope(globalScope).REGION

  function slotsOf(group: number | undefined): ReadonlySet<number> | null {
    if (group === undefined) return null
    const found = service.lists.groupsOf(undefined).find(({ id }) => id === group)
    if (found === undefined) throw new RequestError('not_found', { subject: `group ${group}` })
    return new Set(found.slots)
  }

  app.route({
    ...frequencyOperations.getFrequencies,
    handler: async (request) => {
      const {
        level = 'standard',
        only_on = false,
        group,
        site = localSite,
        measured: choice = 'default',
      } = request.query
      const filter = { level, isOnlyOn: only_on, slots: slotsOf(group) }
      const measured = site === localSite ? await readChosen(choice) : null
      const { carriers, result, checkedAt } = await frequencies.check(filter, site, clientKeyOf(request), measured)
      return {
        region: region(),
        carriers: byFrequency(carriers.filter((carrier) => isSelected(carrier, filter))).map((carrier) =>
          toCarrierBody(carrier, { region: region(), measured }),
        ),
        scan_ids: measured?.scans.map(({ id }) => id) ?? [],
        tv: measureTvChannels(region(), measured?.scans ?? []),
        ...toConflictsBody(result),
        checked_at: toTimestamp(checkedAt),
      }
    },
  })

  app.route({
    ...frequencyOperations.checkFrequencies,
    ...read,
    bodyLimit: carrierBytes,
    handler: async (request) => {
      const { carriers, victims, never_on_together: neverOnTogether = [], level = 'standard' } = request.body
      const parsed = parseCarriers(carriers, 'carriers', { profiles: frequencies.profiles(), level })
      const measured = await readRequested(request.body.measured)
      const options = {
        ...{ tvInUse: tvInUse(), measured, neverOnTogether },
        victims: victims?.flatMap(carrierIdsOf) ?? null,
      }
      const result = await checker.check(parsed, options, clientKeyOf(request))
      return toCheckBody(result, carriers, parsed, measured)
    },
  })

  app.route({
    ...frequencyOperations.suggestFrequencies,
    ...read,
    bodyLimit: carrierBytes,
    handler: async (request) => {
      const { level = 'standard', timeout_ms = 5000 } = request.body
      const measured = await readRequested(request.body.measured)
      const context = { profiles: frequencies.profiles(), level, tvInUse: tvInUse(), measured }
      return checker.suggest(parseSuggestRequest(request.body, context), timeout_ms, clientKeyOf(request))
    },
  })

  app.route({
    ...frequencyOperations.exportFrequencies,
    handler: (request, reply) => {
      const { format = 'csv', only_on = false, group, site = localSite } = request.query
      const filter = { isOnlyOn: only_on, slots: slotsOf(group) }
      const carriers = frequencies.carriers(site).filter((carrier) => isSelected(carrier, filter))
      const groups = service.lists.groupsOf(undefined)
      const exported = carriers.map(({ name, khz, profile, zone, slot }) => {
        const titles = groups.filter(({ slots }) => slots.includes(slot)).map(({ title }) => title)
        return { name, khz, profile: profile.id, zone, slot, groups: titles }
      })
      return sendCsvText(request, reply, 'frequencies.csv', exportCarriers(format, exported, region()))
    },
  })

  /** Null if no scan is considered. */
  async function readChosen(choice: string): Promise<Measured | null> {
    if (choice === 'off') return null
    const defaults = measuredScans.defaults()
    return readScans(
      choice === 'default' ? defaults : { ...defaults, scan_ids: choice.split(',').map(Number) },
      'measured',
    )
  }

  async function readRequested(requested: Body<typeof MeasuredRequest> | undefined): Promise<Measured | null> {
    return requested === undefined ? null : readScans(completeMeasured(requested), 'measured.scan_ids')
  }

  async function readScans(options: MeasuredOptions, field: string): Promise<Measured | null> {
    measuredScans.requireScans(options.scan_ids, field)
    const measured = await measuredScans.read(options)
    return measured.scans.length === 0 ? null : measured
  }

  function tvInUse() {
    const { REGION, TV_IN_USE } = service.settings.inScope(globalScope)
    return parseTvInUse(REGION, TV_IN_USE).inUse
  }
}

function measuredRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...frequencyOperations.getMeasuredScans,
    handler: () => service.measuredScans.defaults(),
  })

  app.route({
    ...frequencyOperations.chooseMeasuredScans,
    handler: (request) => chooseMeasuredScans(service, request.actor, completeMeasured(request.body), ifMatch(request)),
  })
}

/** Clients that read the noise of the same hours together share the response. */
const keptNoiseMs = 2000
const maxKeptNoise = 8

function noiseRoutes(app: ContractServer, service: Service): void {
  const kept = new LruMap<number, { readonly madeAt: number; readonly body: Promise<FrequencyNoiseBody> }>(maxKeptNoise)
  /** Only this installation's receivers are listed, because levels of sites are not recorded here. */
  app.route({
    ...frequencyOperations.getFrequencyNoise,
    handler: async (request) => {
      const { hours = 24, site } = request.query
      const noise = await readNoise(hours, request)
      return includesSite({ site }, null) ? noise : { ...noise, channels: [] }
    },
  })

  function readNoise(hours: number, request: FastifyRequest): Promise<FrequencyNoiseBody> {
    const known = kept.get(hours)
    if (known !== undefined && now() - known.madeAt < keptNoiseMs) return known.body
    const body = listIdleNoise(service, service.history.levels.ofClient(clientKeyOf(request)), hours)
    kept.set(hours, { madeAt: now(), body })
    body.catch(() => kept.delete(hours))
    return body
  }
}

function profileRoutes(app: ContractServer, service: Service): void {
  const listBodies = () => toProfileBodies(service.lists.current.frequencyProfiles)

  app.route({
    ...frequencyProfileOperations.listFrequencyProfiles,
    handler: (request) => paginateLocal(request, listBodies()),
  })

  app.route({
    ...frequencyProfileOperations.getFrequencyProfile,
    handler: ({ params: { id } }) => {
      const found = listBodies().find((profile) => profile.id === id)
      if (found === undefined) throw new RequestError('not_found', { subject: `profile ${id}` })
      return found
    },
  })

  app.route({
    ...frequencyProfileOperations.createFrequencyProfile,
    handler: async ({ actor, body }, reply) => {
      if (body.levels?.standard === undefined) {
        throw new RequestError('bad_request', { details: 'levels.standard: missing' })
      }
      reply.code(201)
      return addFrequencyProfile(service, actor, body)
    },
  })

  app.route({
    ...frequencyProfileOperations.changeFrequencyProfile,
    handler: (request) => {
      const { actor, params, body } = request
      return changeFrequencyProfile(service, actor, params.id, body, ifMatch(request))
    },
  })

  app.route({
    ...frequencyProfileOperations.removeFrequencyProfile,
    handler: async (request, reply) => {
      await removeFrequencyProfile(service, request.actor, request.params.id, ifMatch(request))
      return reply.code(204).send(null)
    },
  })
}
