/** Routes for the bands of countries, and for TV stations. */

import type { FastifyPluginCallback } from 'fastify'
import { checkCoordinates } from '../../actions/equipment/edit-locations.ts'
import { changeBands, importTvStations, resetBands } from '../../actions/frequencies/edit-places.ts'
import { type CountryBandsBody, placeOperations } from '../../contract/places.ts'
import { RequestError } from '../../domain/errors.ts'
import { findCountryBands, toBandBody } from '../../domain/frequencies/bands.ts'
import { stationsByDistance } from '../../domain/frequencies/tv-stations.ts'
import { toTimestamp } from '../../domain/timestamp.ts'
import type { Service } from '../../service.ts'
import { findEditedBands, findTvStations } from '../../storage/places.ts'
import type { ContractServer } from '../server/contract.ts'
import { acceptForms, formLimit, withSingleFile } from '../server/form-bodies.ts'
import { paginateLocal } from '../server/response.ts'

const maxFileBytes = 8 * 1024 * 1024
const administer = { config: { needs: 'administer' } } as const

export function placeRoutes(app: ContractServer, service: Service): void {
  const { db } = service

  app.route({
    ...placeOperations.getBands,
    handler: ({ query }) => readBands(query.country.toUpperCase()),
  })

  app.route({
    ...placeOperations.changeBands,
    ...administer,
    handler: async ({ actor, query, body }) => {
      const country = query.country.toUpperCase()
      await changeBands(service, actor, country, body)
      return readBands(country)
    },
  })

  app.route({
    ...placeOperations.resetBands,
    ...administer,
    handler: async ({ actor, query }, reply) => {
      await resetBands(service, actor, query.country.toUpperCase())
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...placeOperations.listTvStations,
    handler: async (request) => {
      const { latitude, longitude } = request.query
      checkCoordinates({ latitude: latitude ?? null, longitude: longitude ?? null })
      const { stations, importedAt } = await findTvStations(db.read)
      const listed =
        latitude === undefined || longitude === undefined
          ? stations.map((station) => ({ ...station, distance_km: null }))
          : stationsByDistance(stations, { latitude, longitude })
      const imported_at = toTimestamp(importedAt ?? 0)
      return paginateLocal(
        request,
        listed.map((station) => ({ ...station, imported_at })),
      )
    },
  })

  void app.register(stationUploads(service))

  async function readBands(country: string): Promise<CountryBandsBody> {
    const builtIn = findCountryBands(country)
    const edited = await findEditedBands(db.read, country)
    const bands = edited?.bands ?? builtIn?.bands ?? []
    return {
      country,
      updated: edited === undefined ? (builtIn?.updated ?? null) : toTimestamp(edited.editedAt).slice(0, 10),
      edited_by: edited?.by ?? null,
      sources: edited === undefined ? [...(builtIn?.sources ?? [])] : [...new Set(bands.map(({ source }) => source))],
      bands: bands.map(toBandBody),
    }
  }
}

/** The file is a field of a form, or the whole body. */
function stationUploads(service: Service): FastifyPluginCallback {
  return (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    const limits = { files: 1, fileBytes: maxFileBytes, totalBytes: maxFileBytes }
    acceptForms(instance, limits, withSingleFile)
    instance.addContentTypeParser('text/csv', { parseAs: 'buffer' }, (_request, bytes, parsed) => {
      parsed(null, { file: { name: '', bytes, isTooLarge: false } })
    })
    scope.route({
      ...placeOperations.importTvStations,
      bodyLimit: formLimit(maxFileBytes),
      handler: async ({ actor, body: { file } }, reply) => {
        if (file.isTooLarge) throw new RequestError('too_large', { details: 'file: expected at most 8 MiB' })
        const { count, importedAt } = await importTvStations(service, actor, file.bytes)
        reply.code(201)
        return { count, imported_at: toTimestamp(importedAt) }
      },
    })
    done()
  }
}
