/** Routes for shows. */

import { addScene, getScene, listScenes, removeScene, type SceneDeps } from '../../actions/shows/edit-scenes.ts'
import {
  addShow,
  changeShow,
  type EditShowDeps,
  endShow,
  removeShow,
  startShow,
} from '../../actions/shows/edit-shows.ts'
import { previewRecall, recallScene } from '../../actions/shows/recall-scene.ts'
import { showOperations } from '../../contract/shows.ts'
import { RequestError } from '../../domain/errors.ts'
import { toSceneBody } from '../../domain/scenes/arrangement.ts'
import { type Show, toShowBody } from '../../domain/shows.ts'
import type { ContractServer } from '../server/contract.ts'
import { paginate, paginateLocal } from '../server/response.ts'

export interface ShowRoutesDeps {
  readonly showDeps: EditShowDeps
  readonly sceneDeps: SceneDeps
  shows(): readonly Show[]
}

export function showRoutes(app: ContractServer, { showDeps, sceneDeps, shows }: ShowRoutesDeps): void {
  app.route({
    ...showOperations.listShows,
    handler: (request) => paginateLocal(request, shows().map(toShowBody)),
  })

  app.route({
    ...showOperations.getShow,
    handler: ({ params: { id } }) => {
      const show = shows().find((candidate) => candidate.id === id)
      if (show === undefined) throw new RequestError('not_found', { subject: `show ${id}` })
      return toShowBody(show)
    },
  })

  app.route({
    ...showOperations.createShow,
    handler: async ({ actor, body }, reply) => {
      reply.code(201)
      return toShowBody(await addShow(showDeps, actor, body))
    },
  })

  app.route({
    ...showOperations.changeShow,
    handler: async ({ actor, params, body }) => toShowBody(await changeShow(showDeps, actor, params.id, body)),
  })

  app.route({
    ...showOperations.removeShow,
    handler: async ({ actor, params }, reply) => {
      await removeShow(showDeps, actor, params.id)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...showOperations.startShow,
    handler: async ({ actor, params }) => toShowBody(await startShow(showDeps, actor, params.id)),
  })

  app.route({
    ...showOperations.endShow,
    handler: async ({ actor, params }) => toShowBody(await endShow(showDeps, actor, params.id)),
  })

  app.route({
    ...showOperations.listScenes,
    handler: async (request) => paginate(request, (await listScenes(sceneDeps, request.params.id)).map(toSceneBody)),
  })

  app.route({
    ...showOperations.getScene,
    handler: async ({ params }) => {
      const { arrangement, ...scene } = await getScene(sceneDeps, params.id, params.scene_id)
      return { ...toSceneBody(scene), arrangement }
    },
  })

  app.route({
    ...showOperations.createScene,
    handler: async ({ actor, params, body }, reply) => {
      reply.code(201)
      return toSceneBody(await addScene(sceneDeps, actor, params.id, body.title))
    },
  })

  app.route({
    ...showOperations.removeScene,
    handler: async ({ actor, params }, reply) => {
      await removeScene(sceneDeps, actor, params.id, params.scene_id)
      return reply.code(204).send(null)
    },
  })

  app.route({
    ...showOperations.recallScene,
    handler: ({ actor, params, body }) =>
      body?.preview === true
        ? previewRecall(sceneDeps, params.id, params.scene_id)
        : recallScene(sceneDeps, actor, params.id, params.scene_id),
  })
}
