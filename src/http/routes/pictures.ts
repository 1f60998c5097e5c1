/** Routes for the pictures of performers. */

import type { FastifyPluginCallback } from 'fastify'
import { removePicture, setPicture, setPictures } from '../../actions/equipment/edit-pictures.ts'
import { maxPictureFiles, performerOperations } from '../../contract/performers.ts'
import { maxPictureBytes, withMount } from '../../domain/equipment/picture.ts'
import { RequestError } from '../../domain/errors.ts'
import type { Service } from '../../service.ts'
import { findPicture } from '../../storage/pictures.ts'
import type { ContractServer } from '../server/contract.ts'
import { acceptForms, formLimit } from '../server/form-bodies.ts'
import { setUndoId } from '../server/response.ts'

const maxTotalBytes = 64 * 1024 * 1024

export function pictureRoutes(app: ContractServer, service: Service): void {
  const { mount } = service
  app.route({
    ...performerOperations.getPicture,
    // A page shows many pictures at once.
    config: { isUnlimited: true },
    handler: async ({ params: { id }, headers }, reply) => {
      const picture = await findPicture(service.db.read, id)
      if (picture === undefined) throw new RequestError('not_found', { subject: `picture ${id}` })
      const etag = `"${id}"`
      reply.header('etag', etag).header('cache-control', 'private, max-age=31536000, immutable')
      if (isListed(headers['if-none-match'], etag)) return reply.code(304).send(null)
      return reply.header('content-type', picture.type).send(Buffer.from(picture.bytes))
    },
  })

  app.route({
    ...performerOperations.removePicture,
    handler: async ({ actor, params }, reply) => {
      await removePicture(service, actor, params.id)
      return reply.code(204).send(null)
    },
  })

  const uploads: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    // The content determines the format, whatever the content type says.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, parsed) => parsed(null, body))
    scope.route({
      ...performerOperations.setPicture,
      bodyLimit: maxPictureBytes,
      handler: async ({ actor, params, body }) => {
        // Without a content type, there is no body, or an empty one.
        const bytes = Buffer.isBuffer(body) ? body : undefined
        return withMount(await setPicture(service, actor, params.id, bytes), mount)
      },
    })
    done()
  }
  void app.register(uploads)

  const forms: FastifyPluginCallback = (instance, _options, done) => {
    const scope: ContractServer = instance.withTypeProvider()
    acceptForms(
      instance,
      { files: maxPictureFiles, fileBytes: maxPictureBytes, totalBytes: maxTotalBytes },
      (fields) => fields,
    )
    scope.route({
      ...performerOperations.setPictures,
      bodyLimit: formLimit(maxTotalBytes),
      handler: async ({ actor, body }, reply) => {
        const stored = await setPictures(service, actor, body.file)
        setUndoId(reply, stored.undo_id)
        return stored
      },
    })
    done()
  }
  void app.register(forms)
}

/** Reads an `If-None-Match` header. */
function isListed(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((tag) => ['*', etag, `W/${etag}`].includes(tag.trim())) ?? false
}
