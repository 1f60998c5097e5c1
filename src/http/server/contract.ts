/** Derives the types of requests and responses from the schemas of a route. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyTypeProvider, RawServerDefault } from 'fastify'
import type { TSchema } from 'typebox'
import type { Body } from '../../contract/schema.ts'

interface ContractTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends TSchema ? Body<this['schema']> : unknown
  /** A handler may also return the reply, after it has sent the response. */
  readonly serializer: this['schema'] extends TSchema ? Body<this['schema']> | FastifyReply : unknown
}

/** The server, with handlers whose request and response types follow from the schemas of their route. */
export type ContractServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ContractTypes
>
