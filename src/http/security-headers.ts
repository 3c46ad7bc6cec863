import helmet from '@fastify/helmet';
import type { FastifyInstance } from 'fastify';

/** Pages load their own parts only. Styles are inline in the board and in the API's documentation. */
export function registerSecurityHeaders(
  fastify: FastifyInstance,
  { production }: { production: boolean },
): void {
  fastify.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'self'"],
        styleSrc: ["'self'", "'unsafe-inline'"],
        imgSrc: ["'self'", 'data:'],
        objectSrc: ["'none'"],
        baseUri: ["'self'"],
        formAction: ["'self'"],
        frameAncestors: ["'none'"],
      },
    },
    // Without any referrer, browsers send no usable Origin with forms, and the check of it would fail.
    referrerPolicy: { policy: 'same-origin' },
    strictTransportSecurity: production,
  });
}
