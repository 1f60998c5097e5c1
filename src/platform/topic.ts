/** Announces one kind of event to its subscribers, in the order in which they subscribed. */
export class Topic<Payload = void> {
  readonly #subscribers: ((payload: Payload) => void)[] = []

  subscribe(subscriber: (payload: Payload) => void): void {
    this.#subscribers.push(subscriber)
  }

  publish(payload: Payload): void {
    for (const subscriber of this.#subscribers) subscriber(payload)
  }
}
