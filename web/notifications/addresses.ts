/** The addresses of notifications in the REST interface, and when pages read them again. */

export const channelsPath = '/api/admin/notification-channels/'
export const rulesPath = '/api/admin/notification-rules/'
export const deliveriesPath = '/api/admin/notification-deliveries/'

/** A service may have disabled a channel when an alert was sent to it. */
export const notificationTopics = ['alert', 'settings'] as const

/** How often deliveries are read while a page shows them, because no message announces that one was sent. */
export const deliveryIntervalMs = 5_000
