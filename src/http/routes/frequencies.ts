/** Routes for frequencies: conflicts, suggestions, export and profiles. */

import type { FastifyRequest } from 'fastify'
import {
  addFrequencyProfile,
  changeFrequencyProfile,
  removeFrequencyProfile,
} from '../../actions/frequencies/edit-frequency-profiles.ts'
import { listIdleNoise } from '../../actions/frequencies/list-idle-noise.ts'
import { type FrequencyNoiseBody, frequencyOperations } from '../../contract/frequencies.ts'
import { includesSite, localSite } from '../../domain/equipment/sites.ts'
import { RequestError } from '../../domain/errors.ts'
import { carrierIdsOf, mergeSecondCarriers } from '../../domain/frequencies/check.ts'
import {
  parseCarriers,
  parseSuggestRequest,
  toCarrierBody,
  toCheckBody,
  toFrequenciesCsv,
  toFrequencyList,
  toWsmFrequencies,
} from '../../domain/frequencies/frequency-bodies.ts'
import { byFrequency, isSelected } from '../../domain/frequencies/live-carriers.ts'
import { toProfileBodies } from '../../domain/frequencies/profile-changes.ts'
import { parseTvInUse } from '../../domain/frequencies/tv-raster.ts'
import { globalScope } from '../../domain/settings.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import { LruMap } from '../../platform/cache.ts'
import { now } from '../../platform/clock.ts'
import type { Service } from '../../service.ts'
import { clientKeyOf } from '../server/client-key.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginateLocal, sendCsv } from '../server/response.ts'

/** Enough for 1,000 carriers with all their properties. */
const carrierBytes = 512 * 1024
/** Checks and suggestions store nothing. */
const read = { config: { needs: 'read', maxValues: 100_000 } } as const

export function frequencyRoutes(app: ContractServer, service: Service): void {
  checkRoutes(app, service)
  noiseRoutes(app, service)
  profileRoutes(app, service)
}

function checkRoutes(app: ContractServer, service: Service): void {
  const { checker, frequencies } = service
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
      const { level = 'standard', only_on = false, group, site = localSite } = request.query
      const filter = { level, isOnlyOn: only_on, slots: slotsOf(group) }
      const { carriers, result, checkedAt } = await frequencies.check(filter, site, clientKeyOf(request))
      return {
        region: region(),
        carriers: byFrequency(carriers.filter((carrier) => isSelected(carrier, filter))).map((carrier) =>
          toCarrierBody(carrier, region()),
        ),
        ...toCheckBody(result),
        checked_at: toTimestamp(checkedAt),
      }
    },
  })

  app.route({
    ...frequencyOperations.checkFrequencies,
    ...read,
    bodyLimit: carrierBytes,
    handler: async (request) => {
      const { carriers, victims, level = 'standard' } = request.body
      const parsed = parseCarriers(carriers, 'carriers', { profiles: frequencies.profiles(), level })
      const options = { tvInUse: tvInUse(), victims: victims?.flatMap(carrierIdsOf) ?? null }
      return toCheckBody(mergeSecondCarriers(await checker.check(parsed, options, clientKeyOf(request))))
    },
  })

  app.route({
    ...frequencyOperations.suggestFrequencies,
    ...read,
    bodyLimit: carrierBytes,
    handler: (request) => {
      const { level = 'standard', timeout_ms = 5000 } = request.body
      const context = { profiles: frequencies.profiles(), level, tvInUse: tvInUse() }
      return checker.suggest(parseSuggestRequest(request.body, context), timeout_ms, clientKeyOf(request))
    },
  })

  app.route({
    ...frequencyOperations.exportFrequencies,
    handler: (request, reply) => {
      const { format = 'csv', only_on = false, group, site = localSite } = request.query
      const filter = { isOnlyOn: only_on, slots: slotsOf(group) }
      const carriers = frequencies.carriers(site).filter((carrier) => isSelected(carrier, filter))
      const context = { region: region(), groups: service.lists.groupsOf(undefined) }
      const text = {
        csv: () => toFrequenciesCsv(carriers, context),
        list: () => toFrequencyList(carriers),
        wsm: () => toWsmFrequencies(carriers),
      }[format]()
      return sendCsv(request, reply, 'frequencies.csv', toChunks(text))
    },
  })

  function tvInUse() {
    const { REGION, TV_IN_USE } = service.settings.inScope(globalScope)
    return parseTvInUse(REGION, TV_IN_USE).inUse
  }
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

async function* toChunks(text: string): AsyncIterable<string> {
  yield text
}

function profileRoutes(app: ContractServer, service: Service): void {
  const listBodies = () => toProfileBodies(service.lists.current.frequencyProfiles)

  app.route({
    ...frequencyOperations.listFrequencyProfiles,
    handler: (request) => paginateLocal(request, listBodies()),
  })

  app.route({
    ...frequencyOperations.getFrequencyProfile,
    handler: ({ params: { id } }) => {
      const found = listBodies().find((profile) => profile.id === id)
      if (found === undefined) throw new RequestError('not_found', { subject: `profile ${id}` })
      return found
    },
  })

  app.route({
    ...frequencyOperations.createFrequencyProfile,
    handler: async ({ actor, body }, reply) => {
      if (body.levels?.standard === undefined) {
        throw new RequestError('bad_request', { details: 'levels.standard: missing' })
      }
      reply.code(201)
      return addFrequencyProfile(service, actor, body)
    },
  })

  app.route({
    ...frequencyOperations.changeFrequencyProfile,
    handler: (request) => {
      const { actor, params, body } = request
      return changeFrequencyProfile(service, actor, params.id, body, ifMatch(request))
    },
  })

  app.route({
    ...frequencyOperations.removeFrequencyProfile,
    handler: async (request, reply) => {
      await removeFrequencyProfile(service, request.actor, request.params.id, ifMatch(request))
      return reply.code(204).send(null)
    },
  })
}
