/** Shows: performances and rehearsals. */

import { NoContent, pagedOf } from '../described.ts'
import { endpoint, operation } from '../endpoint.ts'
import { ErrorResponse } from '../errors.ts'
import { ById, ByScene, LocalList, Paging } from '../queries.ts'
import { NewScene, NewShow, SceneRecallRequest, ShowChange } from '../requests.ts'
import { Scene, SceneDetail, SceneRecall } from '../resources/scenes.ts'
import { Show } from '../resources/shows.ts'

export const listShows = endpoint('GET', '/api/shows/', {
  ...operation('Shows', 'listShows', 'Planned, running and ended shows.'),
  querystring: LocalList,
  response: { 200: pagedOf(Show) },
})

export const getShow = endpoint('GET', '/api/shows/:id/', {
  ...operation('Shows', 'getShow', 'One show.'),
  params: ById,
  response: { 200: Show },
})

export const createShow = endpoint('POST', '/api/shows/', {
  ...operation('Shows', 'createShow', 'Plans a show.'),
  body: NewShow,
  response: { 201: Show },
})

export const changeShow = endpoint('PATCH', '/api/shows/:id/', {
  ...operation('Shows', 'changeShow', 'Changes the given fields of a show.'),
  params: ById,
  body: ShowChange,
  response: { 200: Show, 409: ErrorResponse },
})

export const removeShow = endpoint('DELETE', '/api/shows/:id/', {
  ...operation('Shows', 'removeShow', 'Removes a show that is not running.'),
  params: ById,
  response: { 204: NoContent, 409: ErrorResponse },
})

export const startShow = endpoint('POST', '/api/shows/:id/start', {
  ...operation('Shows', 'startShow', 'Starts a planned show.'),
  params: ById,
  response: { 200: Show, 409: ErrorResponse },
})

export const endShow = endpoint('POST', '/api/shows/:id/end', {
  ...operation('Shows', 'endShow', 'Ends a running show.'),
  params: ById,
  response: { 200: Show, 409: ErrorResponse },
})

export const listScenes = endpoint('GET', '/api/shows/:id/scenes/', {
  ...operation('Shows', 'listScenes', 'The scenes of a show: stored arrangements.'),
  params: ById,
  querystring: Paging,
  response: { 200: pagedOf(Scene) },
})

export const getScene = endpoint('GET', '/api/shows/:id/scenes/:scene_id/', {
  ...operation('Shows', 'getScene', 'One scene with what it stores.'),
  params: ByScene,
  response: { 200: SceneDetail },
})

export const createScene = endpoint('POST', '/api/shows/:id/scenes/', {
  ...operation(
    'Shows',
    'createScene',
    'Stores the present arrangement of a show: slots, groups, names of placeholders and performers, assignments, and ' +
      'frequencies as a plan.',
  ),
  params: ById,
  body: NewScene,
  response: { 201: Scene },
})

export const removeScene = endpoint('DELETE', '/api/shows/:id/scenes/:scene_id/', {
  ...operation('Shows', 'removeScene', 'Removes a scene.'),
  params: ByScene,
  response: { 204: NoContent },
})

export const recallScene = endpoint('POST', '/api/shows/:id/scenes/:scene_id/recall', {
  ...operation('Shows', 'recallScene', 'Restores the arrangement that a scene stores. Never writes to equipment.'),
  params: ByScene,
  body: SceneRecallRequest,
  response: { 200: SceneRecall },
})
