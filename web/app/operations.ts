/** Types of requests and responses by method and address, derived from the operations in the contract. */

import type { TSchema } from 'typebox'
import type { Method } from '../../src/contract/endpoint.ts'
import type { operations } from '../../src/contract/operations.ts'
import type { Body, Review } from '../../src/contract/schema.ts'

type Operation = (typeof operations)[keyof typeof operations]

/** Converts `/api/groups/:id/` to the type of `/api/groups/1/`, and `/api/undo/:id` to that of `/api/undo/1`. */
type PathOf<Url extends string> = Url extends `${infer Start}:${string}/${infer Rest}`
  ? `${Start}${string}/${PathOf<Rest>}`
  : Url extends `${infer Start}:${string}`
    ? `${Start}${string}`
    : Url

type WithQuery<Path extends string> = Path | `${Path}?${string}`

export type Address<M extends Method> = WithQuery<PathOf<Extract<Operation, { method: M }>['url']>>

/** The parts of a path between its slashes. An id contains no slash. */
type Depth<Path extends string> = Path extends `${infer Start}?${string}`
  ? Depth<Start>
  : Path extends `${string}/${infer Rest}`
    ? [unknown, ...Depth<Rest>]
    : []

type Operations = typeof operations

/** Evaluated once for all calls. */
type PathsOf<M extends Method> = {
  [Name in keyof Operations as Operations[Name]['method'] extends M ? Name : never]: Operations[Name]['url']
}

type Matching<Paths, A extends string> = {
  [Name in keyof Paths]: Paths[Name] extends infer Url extends string
    ? A extends WithQuery<PathOf<Url>>
      ? Depth<A> extends Depth<Url>
        ? Name
        : never
      : never
    : never
}[keyof Paths]

type SuccessOf<Responses> = {
  [Status in keyof Responses & (200 | 201 | 202 | 204)]: Responses[Status] extends TSchema
    ? Body<Responses[Status]>
    : never
}[keyof Responses & (200 | 201 | 202 | 204)]

type ResponsesOf<Schema> = Schema extends { response: infer Responses } ? SuccessOf<Responses> : never

/** By name, so that the compiler evaluates only the bodies of operations that are called. */
type ResponseBodies = { [Name in keyof Operations]: ResponsesOf<Operations[Name]['schema']> }
type RequestBodies = { [Name in keyof Operations]: RequestOf<Operations[Name]['schema']> }

type ResponseBody<M extends Method, A extends string> = ResponseBodies[Matching<PathsOf<M>, A> & keyof Operations]

/** A list operation returns a page if its query contains `page` or `page_size`, else the whole list. */
interface Shapes<Response> {
  readonly list: Extract<Response, readonly unknown[]>
  readonly page: Extract<Response, { readonly results: readonly unknown[] }>
  readonly object: Exclude<Response, readonly unknown[] | null>
  readonly nothing: null
  readonly text: string
}

export type Shape = keyof Shapes<unknown>

export type Received<M extends Method, A extends string, S extends Shape> = Shapes<ResponseBody<M, A>>[S]

/** A body may contain the texts of form fields as they are, because the service checks them. */
type FormValues<Request> =
  | { readonly [Field in keyof Request]: Request[Field] | FormDataEntryValue | null }
  | Readonly<Record<string, FormDataEntryValue>>

type RequestOf<Schema> = Schema extends { body: infer B extends TSchema } ? FormValues<Body<B>> : undefined

export type Sent<M extends Method, A extends string> = RequestBodies[Matching<PathsOf<M>, A> & keyof Operations]

export type PagedAddress = Extract<
  Operation,
  { method: 'GET'; schema: { querystring: { properties: { page: TSchema } } } }
>['url']

/** Actions on several records. */
export type ReviewAddress = Extract<Operation, { method: 'POST'; schema: { response: { 200: typeof Review } } }>['url']
