/** Routes for shows. */

import { addScene, getScene, listScenes, removeScene, renameScene } from '../../actions/shows/edit-scenes.ts'
import { addShow, changeShow, endShow, getShow, removeShow, startShow } from '../../actions/shows/edit-shows.ts'
import { previewRecall, recallScene } from '../../actions/shows/recall-scene.ts'
import { showOperations } from '../../contract/shows.ts'
import { type StoredScene, toSceneBody } from '../../domain/scenes/arrangement.ts'
import { toShowBody } from '../../domain/shows.ts'
import type { Service } from '../../service.ts'
import type { ContractServer } from '../server/contract.ts'
import { ifMatch } from '../server/if-match.ts'
import { paginate, paginateLocal, setUndoId, withUndoId } from '../server/response.ts'

export function showRoutes(app: ContractServer, service: Service): void {
  app.route({
    ...showOperations.listShows,
    handler: (request) => paginateLocal(request, service.lists.current.shows.map(toShowBody)),
  })

  app.route({
    ...showOperations.getShow,
    handler: ({ params }) => toShowBody(getShow(service, params.id)),
  })

  app.route({
    ...showOperations.createShow,
    handler: async ({ actor, body }, reply) => {
      reply.code(201)
      return toShowBody(await addShow(service, actor, body))
    },
  })

  app.route({
    ...showOperations.changeShow,
    handler: async (request) => {
      const { actor, params, body } = request
      return toShowBody(await changeShow(service, actor, params.id, body, ifMatch(request, toShowBody)))
    },
  })

  app.route({
    ...showOperations.removeShow,
    handler: async (request, reply) => {
      await removeShow(service, request.actor, request.params.id, ifMatch(request, toShowBody))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...showOperations.startShow,
    handler: async ({ actor, params }) => toShowBody(await startShow(service, actor, params.id)),
  })

  app.route({
    ...showOperations.endShow,
    handler: async ({ actor, params }) => toShowBody(await endShow(service, actor, params.id)),
  })

  app.route({
    ...showOperations.listScenes,
    handler: async (request) => paginate(request, (await listScenes(service, request.params.id)).map(toSceneBody)),
  })

  app.route({
    ...showOperations.getScene,
    handler: async ({ params }) => toSceneDetail(await getScene(service, params.id, params.scene_id)),
  })

  app.route({
    ...showOperations.createScene,
    handler: async ({ actor, params, body }, reply) => {
      reply.code(201)
      return toSceneBody(withUndoId(reply, await addScene(service, actor, params.id, body.title)))
    },
  })

  app.route({
    ...showOperations.changeScene,
    handler: async (request, reply) => {
      const { actor, params, body } = request
      const requireVersion = ifMatch(request, toSceneDetail)
      const { id, scene_id } = params
      const edited = await renameScene(service, actor, id, scene_id, body.title, requireVersion)
      return toSceneBody(withUndoId(reply, edited))
    },
  })

  app.route({
    ...showOperations.removeScene,
    handler: async (request, reply) => {
      const { actor, params } = request
      const requireVersion = ifMatch(request, toSceneDetail)
      withUndoId(reply, await removeScene(service, actor, params.id, params.scene_id, requireVersion))
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...showOperations.recallScene,
    handler: async ({ actor, params: { id, scene_id }, body }, reply) => {
      if (body?.preview === true) return previewRecall(service, id, scene_id)
      const recall = await recallScene(service, actor, id, scene_id)
      setUndoId(reply, recall.undo_id)
      return recall
    },
  })
}

function toSceneDetail({ arrangement, ...scene }: StoredScene) {
  return { ...toSceneBody(scene), arrangement }
}
